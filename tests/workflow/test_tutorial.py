"""The tutorial's commands and files do what it says, in the order in which they stand; so does what comes after it, a
schedule as docs/extending.md has it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import Workspace, copy_repository

TUTORIAL = Path("docs/tutorial.md")
EXTENDING = Path("docs/extending.md")
BLOCK = re.compile(r"^```(sh|python|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The file that the text tells to save a block as.
FILES = {"python": "src/preln/placements/peri_ln.py", "yaml": "config/peri.yaml"}


def runs_of(workspace: Workspace) -> pd.DataFrame:
    return pd.read_csv(workspace.folder / "results" / "peri" / "tables" / "runs.csv")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """What the tutorial leaves behind."""
    made = copy_repository(tmp_path_factory.mktemp("tutorial") / "preln")
    _, *blocks = BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))
    jobs = []
    for kind, content in blocks:
        if kind in FILES:
            (made.folder / FILES[kind]).write_text(content, encoding="utf-8")
            continue
        outcome = made.run("bash", "-e", "-c", content)
        assert outcome.code == 0, outcome.output[-5000:]
        jobs.append(outcome.jobs.get("train_translation", 0))
    # Four models at first, and the second seeds of three afterwards.
    assert jobs[-2:] == [4, 3]
    return made


@pytest.mark.slow
def test_a_placement_of_ones_own_is_trained_as_the_tutorial_says(workspace: Workspace) -> None:
    assert '"peri"' in (workspace.folder / "config" / "schema.json").read_text(encoding="utf-8")
    assert set(runs_of(workspace)["placement"]) == {"post", "pre", "peri"}
    assert "Peri-LN" in (workspace.folder / "results" / "peri" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_theory_measures_a_placement_of_ones_own_and_predicts_nothing_of_it(workspace: Workspace) -> None:
    results = workspace.folder / "results" / "peri"
    theory = pd.read_csv(results / "tables" / "theory.csv")
    mine = theory[theory["model"].str.startswith("Peri-LN")]
    assert {"Lemma 1", "Lemma 2", "Theorem 1", "Appendix F"} <= set(mine["statement"])
    told = mine[mine["predicted"].notna()]
    # These are said of LayerNorm, and of any placement.
    assert set(told["statement"]) == {"Lemma 3", "Definition 1"}
    figure_3 = pd.read_csv(results / "tables" / "figure-3.csv")
    assert figure_3[figure_3["model"].str.startswith("Peri-LN")]["measured"].gt(0).all()
    assert {path.stem for path in (results / "figures").glob("*.png")} >= {
        "figure-theory",
        "figure-3",
        "figure-gradients",
    }


@pytest.mark.slow
def test_a_schedule_of_ones_own_is_one_file(workspace: Workspace) -> None:
    text = EXTENDING.read_text(encoding="utf-8")
    (kind, content), *_ = BLOCK.findall(text[text.index("## A schedule") :])
    assert kind == "python"
    (workspace.folder / "src" / "preln" / "schedules" / "cosine.py").write_text(content, encoding="utf-8")
    config = workspace.folder / "config" / "peri.yaml"
    run = "{placement: peri, optimizer: adam, schedule: cosine, anchor: warmup, decay_updates: 60}"
    config.write_text(config.read_text(encoding="utf-8").replace("\ntheory:", f"\n    - {run}\ntheory:"))
    outcome = workspace.snakemake("results/peri/tables/runs.md", "--configfile", "config/peri.yaml")
    assert outcome.code == 0, outcome.output[-5000:]
    assert outcome.jobs["train_translation"] == 1
    (trained,) = runs_of(workspace).query("schedule == 'cosine'").to_dict("records")
    assert trained["run"] == "peri-adam-lr5e-3-cosine-decayupdates60-s1"
    table = (workspace.folder / "results" / "peri" / "tables" / "runs.md").read_text(encoding="utf-8")
    assert "cosine to 0 at update 60" in table


def test_the_tutorial_begins_with_the_environment_that_make_makes() -> None:
    kind, first = BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))[0]
    assert kind == "sh"
    for command in first.splitlines():
        if command.startswith("make "):
            subprocess.run([*command.split(), "--dry-run"], check=True, capture_output=True)
