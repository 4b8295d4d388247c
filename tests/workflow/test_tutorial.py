"""The commands and files of docs/placements.md, A placement of your own, do what it says, in the order in which they
stand; so does what comes after it, a schedule as docs/how-it-is-built.md has it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import MakeOnce
from tests.workflow.conftest import Workspace, copy_with_tests
from tests.workflow.recipes import blocks, files, section

TUTORIAL = section(Path("docs/placements.md").read_text(encoding="utf-8"), "A placement of your own")
EXTENDING = Path("docs/how-it-is-built.md")


def runs_of(workspace: Workspace) -> pd.DataFrame:
    return pd.read_csv(workspace.folder / "results" / "pre-post" / "tables" / "language.csv")


@pytest.fixture(scope="session")
def workspace(make_once: MakeOnce) -> Workspace:
    """What the tutorial leaves behind."""

    def fill(folder: Path) -> None:
        made = copy_with_tests(folder)
        _, *steps = blocks(TUTORIAL)
        jobs = []
        for _, content, path in steps:
            if path:
                # Less of the same: the tutorial's study shows more than is asserted here.
                less = content.replace("documents: 1000}", "documents: 200}")
                less = less.replace("updates: 200\n", "updates: 100\n")
                (made.folder / path).write_text(less, encoding="utf-8")
                continue
            outcome = made.run("bash", "-e", "-c", content)
            assert outcome.code == 0, outcome.output[-5000:]
            jobs.append(outcome.jobs.get("train_language", 0))
        assert jobs[-1] == 4

    return Workspace(make_once("the tutorial", fill))


@pytest.mark.slow
def test_a_placement_of_ones_own_is_trained_as_the_tutorial_says(workspace: Workspace) -> None:
    assert set(runs_of(workspace)["run"].str.partition("-lr")[0]) == {"post", "pre", "pre-post"}
    assert "Pre-Post-LN" in (workspace.folder / "results" / "pre-post" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_schedule_of_ones_own_is_one_file(workspace: Workspace, tmp_path: Path) -> None:
    workspace = workspace.copied(tmp_path / "after the tutorial")
    square = "src/preln/schedules/square.py"
    (workspace.folder / square).write_text(files(EXTENDING.read_text(encoding="utf-8"))[square], encoding="utf-8")
    config = workspace.folder / "config" / "pre-post.yaml"
    run = "{placement: pre_post_ln.py, schedule: square, decay_updates: 200}"
    config.write_text(config.read_text(encoding="utf-8") + f"    - {run}\n")
    outcome = workspace.snakemake("results/pre-post/tables/language.md", "--configfile", "config/pre-post.yaml")
    assert outcome.code == 0, outcome.output[-5000:]
    assert outcome.jobs["train_language"] == 1
    (trained,) = runs_of(workspace).query("schedule == 'square'").to_dict("records")
    assert trained["run"] == "pre-post-lr4e-3-square-decayupdates200-s1"


def test_the_tutorial_begins_with_the_environment_that_make_makes() -> None:
    kind, first, _ = blocks(TUTORIAL)[0]
    assert kind == "sh"
    for command in first.splitlines():
        if command.startswith("make "):
            subprocess.run([*command.split(), "--dry-run"], check=True, capture_output=True)
