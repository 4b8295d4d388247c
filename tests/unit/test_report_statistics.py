"""Means over seeds, their intervals, exponents, and the learning-rate sensitivity."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from preln.report.core.statistics import estimate, exponent, interval
from preln.translation.report.placements import sensitivity

pytestmark = pytest.mark.numbers


def test_an_interval_of_ten_has_the_tabulated_factor() -> None:
    values = list(range(10))
    # Student's t at 97.5% with 9 degrees of freedom is 2.262.
    expected = 2.2621572 * np.std(values, ddof=1) / math.sqrt(10)
    assert estimate(values).high - estimate(values).mean == pytest.approx(expected, rel=1e-6)


def test_a_single_value_has_no_interval() -> None:
    single = estimate([2.0])
    assert single.mean == 2
    assert math.isnan(single.low)
    assert interval([2.0]) == (2.0, 2.0)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2), st.randoms())
def test_an_estimate_has_the_same_digits_in_every_order_of_its_values(values: list[float], random: Random) -> None:
    assert estimate(random.sample(values, len(values))) == estimate(values)


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_the_exponent_of_a_power_law_is_found(k: float, c: float) -> None:
    x = [2, 4, 8, 64]
    assert exponent(x, [c * value**k for value in x]) == pytest.approx(k, abs=1e-9)


START = 8.0
# No nearer to each other than a grid has them.
rates = st.integers(0, 50).map(lambda step: 1e-5 * 10 ** (step / 10))
losses = st.one_of(st.floats(0.0, 20.0), st.just(math.inf))
curves = st.dictionaries(rates, losses, min_size=2, max_size=9)


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ((2.0, 3.0, 4.0), 1),
        ((2.0, 3.0, 2.0), 1 / 2),
        ((2.0, 2.0, 3.0), 1 / 4),
        # No failure is worse than having learned nothing: the losses are 2, 8 and 8.
        ((2.0, 9.0, math.inf), 9 / 2),
        ((math.inf, 9.0, math.inf), 0),
    ],
    ids=["half of a line's rise", "a rate within", "a rate at an end", "failures", "a model that never learns"],
)
def test_sensitivity_is_the_mean_over_the_logarithm_of_what_is_lost(losses: tuple[float, ...], expected: float) -> None:
    curve = dict(zip((1e-4, 1e-3, 1e-2), losses, strict=True))
    assert sensitivity(curve, START) == pytest.approx(expected)


@given(curves, st.floats(1e-3, 1e3), st.floats(-5.0, 5.0))
def test_neither_the_unit_of_the_rate_nor_a_constant_in_the_loss_changes_the_sensitivity(
    curve: dict[float, float], factor: float, constant: float
) -> None:
    moved = {factor * rate: loss + constant for rate, loss in curve.items()}
    assume(len(moved) == len(curve))
    assert sensitivity(moved, START + constant) == pytest.approx(sensitivity(curve, START), abs=1e-6)


@given(st.floats(1e-5, 1e-3), st.floats(1e-2, 1.0), st.floats(0, START), st.floats(0, START), st.floats(0.1, 0.9))
def test_a_rate_whose_loss_lies_on_the_line_between_its_neighbours_changes_no_sensitivity(
    low: float, high: float, first: float, last: float, share: float
) -> None:
    ends, between = {low: first, high: last}, {low ** (1 - share) * high**share: first + share * (last - first)}
    assert sensitivity(ends | between, START) == pytest.approx(sensitivity(ends, START), abs=1e-9)
