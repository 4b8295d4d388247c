"""The theory through Snakemake: it follows the trained run, and a change measures what depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import validate
from preln.translation.runs import expand
from tests.conftest import MakeOnce, study_content
from tests.workflow.conftest import RUNS, Workspace, raise_version

pytestmark = pytest.mark.slow

TRAINED = expand(validate(study_content(*RUNS), "study"))[0].id
THEORY: dict[str, Any] = {
    "seeds": 2,
    "exact": {"width": 16, "depth": 2, "depths": [1, 2, 4], "widths": [8, 16, 32], "length": 8},
    "gradients": {"runs": [TRAINED], "depths": [1, 2], "batches": 1, "variants": ["no-dropout"]},
}
PARTS = {
    *("exact-layers", "exact-depths", "exact-widths", "post-1", "pre-1", "post-2", "pre-2"),
    *("post-1-no-dropout", "pre-1-no-dropout", "post-1-after-warm-up"),
}
DRAWN = {"draw_figure": 4, "write_table": 2, "judge_claims": 1, "write_report": 1, "write_records": 1}


@pytest.fixture(scope="module")
def measured(finished: Workspace, make_once: MakeOnce) -> Workspace:
    """The finished study with a theory, measured to its end."""

    def fill(folder: Path) -> None:
        folder.rmdir()
        workspace = finished.copied(folder)
        workspace.write_study(*RUNS, theory=THEORY)
        outcome = workspace.snakemake()
        assert outcome.code == 0, outcome.output
        # The training that was there already is used as it is.
        assert outcome.jobs == {"measure_theory": len(PARTS), **DRAWN}

    return Workspace(make_once("a finished theory", fill))


@pytest.fixture
def theory(measured: Workspace, tmp_path: Path) -> Workspace:
    """A copy of it, to change."""
    return measured.copied(tmp_path / "the same theory")


def test_a_study_with_a_theory_has_its_parts_figures_and_tables(measured: Workspace) -> None:
    results = measured.folder / "results" / "tiny"
    assert {path.name for path in (results / "theory").iterdir()} == PARTS
    assert {path.stem for path in (results / "figures").iterdir()} >= {"figure-3", "figure-theory", "figure-gradients"}
    table = pd.read_csv(results / "tables" / "theory.csv")
    assert {"Lemma 1", "Lemma 2", "Lemma 3", "Theorem 1", "Definition 1"} <= set(table["statement"])
    figure = pd.read_csv(results / "tables" / "figure-3.csv")
    assert {"Post-LN, initial", "Pre-LN, initial", "Post-LN, after warm-up"} == set(figure["model"])


def test_a_clone_measures_nothing_but_what_the_study_asks_for_beyond_its_records(theory: Workspace) -> None:
    theory.as_cloned()
    assert theory.would_compute() == set()
    theory.write_study(*RUNS, theory={**THEORY, "exact": {**THEORY["exact"], "length": 4}})
    exact = {part for part in PARTS if part.startswith("exact")}
    assert theory.would_compute() == exact
    # What is measured after the warm-up reads the weights of a run, which a record does not have.
    theory.write_study(*RUNS, theory={**THEORY, "gradients": {**THEORY["gradients"], "batches": 2}})
    run = THEORY["gradients"]["runs"][0]
    assert theory.would_compute() == {*PARTS, run} - exact


def test_a_new_version_of_the_theory_measures_everything(theory: Workspace) -> None:
    raise_version(theory, "theory/measurement_jobs.py", "THEORY_VERSION")
    assert theory.would_run()["measure_theory"] == len(PARTS)
