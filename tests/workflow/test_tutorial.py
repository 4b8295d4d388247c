"""The tutorial's commands and edits do what it says, in the order in which they stand."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pandas as pd

from tests.workflow.conftest import copy_repository

TUTORIAL = Path("docs/tutorial.md")
BLOCK = re.compile(r"^```(sh|diff|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The file that the text tells to save a block as.
FILES = {"diff": "peri.diff", "yaml": "config/peri.yaml"}


def test_a_placement_of_ones_own_is_trained_as_the_tutorial_says(tmp_path: Path) -> None:
    workspace = copy_repository(tmp_path / "preln")
    _, *blocks = BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))
    jobs = []
    for kind, content in blocks:
        if kind in FILES:
            (workspace.folder / FILES[kind]).write_text(content, encoding="utf-8")
            continue
        outcome = workspace.run("bash", "-e", "-c", content)
        assert outcome.code == 0, outcome.output[-5000:]
        jobs.append(outcome.jobs.get("train_translation", 0))
    # Four models at first, and the second seeds of three afterwards.
    assert jobs[-2:] == [4, 3]
    assert '"peri"' in (workspace.folder / "config" / "schema.json").read_text(encoding="utf-8")
    results = workspace.folder / "results" / "peri"
    runs = pd.read_csv(results / "tables" / "runs.csv")
    assert set(runs["placement"]) == {"post", "pre", "peri"}
    assert "Peri-LN" in (results / "report.html").read_text(encoding="utf-8")


def test_the_tutorial_begins_with_the_environment_that_make_makes() -> None:
    kind, first = BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))[0]
    assert kind == "sh"
    for command in first.splitlines():
        if command.startswith("make "):
            subprocess.run([*command.split(), "--dry-run"], check=True, capture_output=True)
