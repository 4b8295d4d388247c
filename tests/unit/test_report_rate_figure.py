"""The figure of losses over sums of rates: each run lies where it has spent what it has spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preln.config import Study
from preln.report.catalogue import Catalogue
from preln.translation.report.figure_rate_budgets import panel, runs
from tests.made_up.translation import records_of, small_study
from tests.reading import drawn

POST: dict[str, Any] = {"placement": "post", "schedule": "inverse-sqrt", "learning_rate": 1e-3, "decay_period": 200}
WITH: dict[str, Any] = {**POST, "optimizer": "adam", "warmup": 200}
HELD: dict[str, Any] = {**POST, "optimizer": "adam", "warmup": 0, "anchor": "hold", "seed": [1, 2]}
BY_SGD: dict[str, Any] = {**POST, "optimizer": "sgd", "warmup": 200}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A run with a warm-up, one without in two seeds, and one by SGD, of two epochs of 100 updates."""
    made, runs = small_study(WITH, HELD, BY_SGD)
    for run in runs:
        records_of(made, run, tmp_path, [9.0, 8.0 + run.settings.seed])
    return made


def records(study: Study, results: Path) -> Any:
    catalogue = Catalogue(study)
    return catalogue.load(catalogue.figure("rate-budgets"), results)


def test_a_run_lies_where_it_has_spent_the_sum_of_its_rates(study: Study, tmp_path: Path) -> None:
    with_warmup, held = panel(study, records(study, tmp_path)).curves
    # The peak of 1e-3 for 100 updates, and for 200; the mean of the seeds 1 and 2.
    assert held.points["x"].tolist() == pytest.approx([0.1, 0.2])
    assert held.points["value"].tolist() == [9.0, 9.5]
    assert with_warmup.points["x"].tolist() == pytest.approx([1e-3 * n * (n + 1) / 2 / 200 for n in (100, 200)])


def test_sgd_whose_rates_are_on_another_scale_is_left_out(study: Study, tmp_path: Path) -> None:
    assert {getattr(run.settings, "optimizer", None) for run in runs(records(study, tmp_path))} == {"adam"}


def test_one_panel_has_the_papers_numbers_in_both_readings_and_one_a_line_for_each_series(
    study: Study, tmp_path: Path
) -> None:
    paper, own = drawn("rate-budgets", study, tmp_path).axes[:2]
    curve, *numbers = list[Any](paper.lines)
    # 8.45 at two rates, 31.16 and 2.77, each with the decay from the end of the warm-up and with the held peak.
    assert sorted(float(point.get_ydata()[0]) for point in numbers) == [2.77, 2.77, *[8.45] * 4, 31.16, 31.16]
    assert curve.get_ydata()[-1] == pytest.approx(33.2, abs=0.1)
    with_warmup, held = list[Any](own.lines)[:2]
    # The mean of the seeds 1 and 2.
    assert list(held.get_ydata()) == pytest.approx([9.0, 9.5])
    assert list(with_warmup.get_ydata()) == pytest.approx([9.0, 9.0])


def test_a_study_without_a_warm_up_to_compare_with_does_not_have_it() -> None:
    made, _ = small_study(HELD)
    assert "rate-budgets" not in Catalogue(made).figures
