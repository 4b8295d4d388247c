"""The report's charts show what is recorded, and nothing else."""

from __future__ import annotations

from pathlib import Path

from preln.report.html import charts, content
from tests.unit.test_report_records import records_of, small_study

ADAM = {"figures": [2], "placement": "post", "optimizer": "adam", "learning_rate": 1e-3, "schedule": "inverse-sqrt"}


def test_a_panel_none_of_whose_runs_is_done_has_no_chart(tmp_path: Path) -> None:
    study, runs = small_study(ADAM, {**ADAM, "optimizer": "sgd"})
    records_of(study, runs[0], tmp_path, [6.0, 5.0])

    shown = content.load(study, runs, [], tmp_path)

    titles = [chart.title for chart in charts.of_figure("2", shown)]
    assert titles == ["(a) Adam: Validation loss (bits/token)", "BLEU of test (%)"], "and none of SGD"


def test_a_figure_none_of_whose_runs_is_done_has_no_chart(tmp_path: Path) -> None:
    study, runs = small_study(ADAM)
    assert charts.of_figure("2", content.load(study, runs, [], tmp_path)) == []
