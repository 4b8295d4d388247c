"""From a training to the report in the notebook: it reads what the workflow has just written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks import execute, shown
from tests.workflow.conftest import Workspace


@pytest.mark.slow
def test_the_notebook_goes_from_a_study_that_was_just_trained_to_its_report(again: Workspace, tmp_path: Path) -> None:
    notebook = execute(again.folder / "results" / "tiny", tmp_path)
    jobs = shown(notebook, "text/html")[0]
    assert "<th>translation</th>\n      <td>3</td>\n      <td>3</td>" in jobs
    assert len(shown(notebook, "image/png")) == 2
    report = again.folder / "notebooks" / "report.html"
    assert "<title>preln: study tiny" in report.read_text(encoding="utf-8")
