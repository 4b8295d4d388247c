"""The theory and the traces of first updates through Snakemake: a change measures what depends on it alone."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import validate
from preln.translation.runs import expand
from tests.conftest import RUN, MakeOnce, study_content
from tests.workflow.conftest import RUNS, Workspace

TRAINED = expand(validate(study_content(*RUNS), "study"))[0].id
THEORY: dict[str, Any] = {
    "seeds": 2,
    "exact": {"width": 16, "depth": 2, "depths": [1, 2, 4], "widths": [8, 16, 32], "length": 8},
    "gradients": {"runs": [TRAINED], "depths": [1], "batches": 1, "variants": ["no-dropout"]},
}
PARTS = {
    *("exact-layers", "exact-depths", "exact-widths", "post-1", "pre-1"),
    *("post-1-no-dropout", "pre-1-no-dropout", "post-1-after-warm-up"),
}
UPDATES = 4
TRACED = ({"placement": "post-init", "warmup": 0}, {"placement": "post"})
DRAWN = {"draw_figure": 4, "write_table": 2, "judge_claims": 1, "write_report": 1, "write_records": 1}
OF_TRACES = [f"results/tiny/{name}" for name in ("figures/figure-first-updates.png", "tables/first-updates.csv")]


def write(workspace: Workspace, *traced: dict[str, Any], **theory: Any) -> None:
    """Write the finished study with a theory and traces."""
    traces = {"settings": RUN, "runs": [*TRACED, *traced], "updates": UPDATES, "sharpness_every": 2}
    workspace.write_study(*RUNS, theory=THEORY | theory, first_updates=traces)


@pytest.fixture(scope="module")
def measured(finished: Workspace, make_once: MakeOnce) -> Workspace:
    """The finished study with a theory and traces, measured to its end."""

    def fill(folder: Path) -> None:
        folder.rmdir()
        workspace = finished.copied(folder)
        workspace.write_study(*RUNS, theory=THEORY)
        # The training that was there already is used as it is.
        assert workspace.snakemake().jobs == {"measure_theory": len(PARTS), **DRAWN}
        write(workspace)
        added = {"trace_first_updates": len(TRACED), "draw_figure": 1, "write_table": 1, "write_records": 1}
        assert workspace.snakemake(*OF_TRACES, "results/tiny/records.jsonl").jobs == added

    return Workspace(make_once("a finished theory", fill))


def test_a_study_with_a_theory_has_its_parts_figures_and_tables(measured: Workspace) -> None:
    results = measured.folder / "results" / "tiny"
    assert {path.name for path in (results / "theory").iterdir()} == PARTS
    assert {path.stem for path in (results / "figures").iterdir()} >= {"figure-3", "figure-theory", "figure-gradients"}
    table = pd.read_csv(results / "tables" / "theory.csv")
    assert {"Lemma 1", "Lemma 2", "Lemma 3", "Theorem 1", "Definition 1"} <= set(table["statement"])
    figure = pd.read_csv(results / "tables" / "figure-3.csv")
    assert {"Post-LN, initial", "Pre-LN, initial", "Post-LN, after warm-up"} == set(figure["model"])


def test_a_study_with_first_updates_has_their_records_figure_and_table(measured: Workspace) -> None:
    results = measured.folder / "results" / "tiny"
    names = {path.name for path in (results / "first-updates").iterdir()}
    assert names == {"post-init-adam-lr2e-3-wu0-s1", "post-adam-lr2e-3-wu10-s1"}
    for name in names:
        updates = pd.read_csv(results / "first-updates" / name / "updates.csv")
        assert updates["update"].tolist() == list(range(UPDATES + 1))
        assert updates["sharpness"].notna().tolist() == [True, False, True, False, True]
    assert (results / "figures" / "figure-first-updates.png").exists()
    table = pd.read_csv(results / "tables" / "first-updates.csv")
    assert set(table["runs"]) == {"Post-LN-init, no warm-up", "Post-LN, warm-up 10"}
    status = measured.run("preln", "status", "results/tiny")
    assert "2 of 2 traces of first updates done" in status.output


def test_a_clone_measures_what_a_study_asks_for_beyond_its_records(measured: Workspace, tmp_path: Path) -> None:
    clone = measured.copied(tmp_path / "the same theory")
    clone.as_cloned()
    assert clone.would_compute() == set()
    write(clone, {"placement": "pre"}, exact={**THEORY["exact"], "length": 4})
    exact = {part for part in PARTS if part.startswith("exact")}
    assert clone.would_compute() == {*exact, "pre-adam-lr2e-3-wu10-s1"}
    # A measurement after the warm-up reads the weights of a run, which a record does not have.
    write(clone, gradients={**THEORY["gradients"], "batches": 2})
    assert clone.would_compute() == {*PARTS, TRAINED} - exact
