"""Means over seeds, their intervals, and exponents."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.report.core.statistics import estimate, exponent, interval

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
