"""The page tells of what its study has now, whatever else lies in the folder of its results."""

from __future__ import annotations

import json
from pathlib import Path

from preln.report.html import page
from preln.report.translation.records import run_folder
from tests.unit.test_report_charts import ADAM
from tests.unit.test_report_records import records_of, small_study

ORIGIN = {"commit_changed": False, "versions": {"preln": "1.0"}}


def test_a_run_and_a_figure_that_the_study_has_no_more_are_not_on_the_page(tmp_path: Path) -> None:
    study, runs = small_study(ADAM, {**ADAM, "figures": [6], "learning_rate": 1e-4})
    for run, commit in zip(runs, ("c0ffee", "badcab"), strict=True):
        records_of(study, run, tmp_path, [6.0])
        path = run_folder(study, run, tmp_path) / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | ORIGIN | {"commit": commit}))
    figures = tmp_path / study.study / "figures"
    figures.mkdir()
    for name in ("2", "6"):
        (figures / f"figure-{name}.png").write_bytes(b"an image")

    study, runs = small_study(ADAM)
    page.write(study, tmp_path, tmp_path / "report.html")

    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-2"' in text
    assert 'id="figure-6"' not in text
    assert "c0ffee (1 record)" in text
    assert "badcab" not in text
