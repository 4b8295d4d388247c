"""Budgets of rate: sums of learning rates, a curve read where so much is spent, and the runs of the paper's numbers."""

import math
from pathlib import Path

import pytest

from preln.config import RunSettings
from preln.report.catalogue import Catalogue
from preln.report.reference import translation as reference
from preln.schedules.constant import Constant
from preln.translation.report.budgets import Reading, of_the_paper, read_at, spent_by
from tests.made_up.translation import POST, recorded_study, small_study
from tests.reading import charts, drawn, tabled

pytestmark = pytest.mark.numbers


def test_a_rate_that_drops_sums_to_both_of_its_parts() -> None:
    (total,) = spent_by(Constant(2.0, 0, 3, 0.1), (50,), drop_update=30)
    assert total == pytest.approx(2.0 * 30 + 0.2 * 20)


def test_a_curve_is_read_on_straight_lines_and_not_beyond_its_ends() -> None:
    spent, values = [1.0, 3.0, 4.0], [10.0, 20.0, 50.0]
    readings = [read_at(spent, values, budget) for budget in (1.0, 2.0, 3.0, 3.5, 4.0, 9.0)]
    assert readings == [10.0, 15.0, 20.0, 35.0, 50.0, 50.0]
    assert math.isnan(read_at(spent, values, 0.9))


def reading(warmup: int, rate: float, anchor: str = "warmup") -> Reading:
    """Where the paper's warmed-up curve has spent as much as the paper's run with these settings."""
    points = {
        (point.schedule.warmup, point.schedule.learning_rate, getattr(point.schedule, "anchor", "")): point
        for point in of_the_paper()
    }
    return points[warmup, rate, anchor]


def test_the_papers_curve_has_the_numbers_of_runs_that_spend_as_much() -> None:
    # T = 500 at 5e-4 spends 0.125 + 2 x 5e-4 sqrt(500) (sqrt(16500) - sqrt(500)); with T = 4000 the same is spent at
    # update ((2.497 - 1) / (1e-3 sqrt(4000)) + sqrt(4000))^2, some 7,560, in the seventh epoch.
    short = reading(500, 5e-4)
    assert short.budget == pytest.approx(2.498, abs=2e-3)
    assert 6.8 < short.epoch < 6.9
    assert short.low < short.value < short.high
    assert 28.4 < short.value < 30.7
    assert not short.at_the_end
    held = reading(500, 5e-4, "hold")
    assert (held.at_the_end, held.value) == (True, 33.2)


@pytest.mark.parametrize("rate", [5e-4, 1e-3])
def test_within_the_warm_up_the_sum_grows_as_the_square_of_the_updates(rate: float) -> None:
    point = reading(0, rate)
    # The warm-up's sum after t updates is 5e-4 t (t + 1) / 2 / 4000.
    assert point.epoch * 1100 == pytest.approx(math.sqrt(2 * 4000 * point.budget / 5e-4), abs=1)
    # The curve has 1.8 after one epoch and 9.3 after two, each to within a fifth.
    assert point.value == pytest.approx(1.8 + (point.epoch - 1) * 7.5, abs=0.01)


def test_a_run_is_set_beside_the_warmed_up_one_where_that_has_spent_as_much(tmp_path: Path) -> None:
    grid = [{**POST, "warmup": 200}, {**POST, "schedule": "constant", "warmup": 0, "seed": [1, 2]}]
    study, (warmed_up, constant, other_seed) = recorded_study(tmp_path, [9.0, 7.0, 6.0], [8.0], [8.0], grid=grid)
    full = tabled("rate-budgets", study, tmp_path).full.set_index("run")
    # 100 updates at the peak. The warm-up has spent 25.25 peaks after 100 updates, and 100.5 after 200.
    row = full.loc[constant.id]
    assert row["sum_of_rates"] == pytest.approx(0.1)
    assert row["reference"] == warmed_up.id
    share = (100 - 25.25) / (100.5 - 25.25)
    assert row["reference_epoch"] == pytest.approx(1 + share)
    assert row["reference_valid_loss"] == pytest.approx(9.0 - 2.0 * share)
    assert full["reference"].notna().to_dict() == {warmed_up.id: False, constant.id: True, other_seed.id: False}


def test_a_run_lies_where_it_has_spent_the_sum_of_its_rates(tmp_path: Path) -> None:
    # One run has a warm-up, one has none and two seeds, and one is by SGD, whose rates are on another scale.
    warmed_up = {**POST, "warmup": 200}
    grid = [warmed_up, {**POST, "warmup": 0, "anchor": "hold", "seed": [1, 2]}, {**warmed_up, "optimizer": "sgd"}]
    study, _ = recorded_study(tmp_path, [9.0, 9.0], [9.0, 9.0], [9.0, 10.0], [9.0, 9.0], grid=grid)
    (chart,) = charts("rate-budgets", study, tmp_path)
    with_warmup, held = (points for _, points in chart.table.groupby("curve", sort=False))
    # The peak of 1e-3 for 100 updates, and for 200; the mean of the seeds 1 and 2.
    assert held["x"].tolist() == pytest.approx([0.1, 0.2])
    assert held["value"].tolist() == [9.0, 9.5]
    assert with_warmup["x"].tolist() == pytest.approx([1e-3 * n * (n + 1) / 2 / 200 for n in (100, 200)])
    paper, own = drawn("rate-budgets", study, tmp_path).axes[:2]
    assert [list(line.get_ydata()) for line in own.lines[:2]] == [[9.0, 9.0], [9.0, 9.5]]
    curve, *numbers = paper.lines
    # 8.45 at two rates, 31.16 and 2.77, each with the decay from the end of the warm-up and with the held peak.
    assert sorted(float(point.get_ydata()[0]) for point in numbers) == [2.77, 2.77, *[8.45] * 4, 31.16, 31.16]
    assert curve.get_ydata()[-1] == pytest.approx(33.2, abs=0.1)


def test_where_all_runs_diverge_the_papers_numbers_are_drawn(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, ([], 7), ([], 9), grid=[{**POST, "warmup": [0, 200]}])
    assert drawn("rate-budgets", study, tmp_path).axes[0].get_title() == "The paper"


def test_a_study_without_a_warm_up_to_compare_with_has_no_such_figure() -> None:
    study, _ = small_study({**POST, "warmup": 0})
    assert "rate-budgets" not in Catalogue(study).figures


def test_a_number_belongs_to_the_runs_that_the_paper_describes() -> None:
    short, failed = (next(e for e in reference.load() if e.statement == words) for words in ("31.16", "only 8.45"))
    at_500 = RunSettings.model_validate({**POST, "corpus": "iwslt14", "learning_rate": 5e-4, "warmup": 500})
    without = RunSettings.model_validate({**POST, "corpus": "iwslt14", "warmup": 1})
    assert short.is_of(at_500)
    assert not short.is_of(at_500.model_copy(update={"learning_rate": 1e-3}))
    assert not short.is_of(at_500.model_copy(update={"dropout": 0.3}))
    assert failed.is_of(without), "one update of warm-up is none, and the paper does not say at which rate"
    assert failed.is_of(without.model_copy(update={"warmup": 0, "learning_rate": 5e-4}))
