"""The traces of first updates through Snakemake: they train nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.conftest import RUN, study_content
from tests.workflow.conftest import RUNS, Workspace

pytestmark = pytest.mark.slow

UPDATES = 4
TRACED: list[dict[str, Any]] = [{"placement": "post-init", "warmup": 0}, {"placement": "post"}]
SHOWN = [f"results/tiny/{name}" for name in ("figures/figure-first-updates.png", "tables/first-updates.csv")]


def study(*traced: dict[str, Any]) -> dict[str, Any]:
    """The finished study with a section of traces."""
    section = {"settings": RUN, "runs": list(traced), "updates": UPDATES, "sharpness_every": 2}
    return study_content(*RUNS, first_updates=section)


@pytest.fixture(scope="module")
def traced(finished: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The finished study with its traces made."""
    workspace = finished.copied(tmp_path_factory.mktemp("traces") / "with traces")
    workspace.write(study(*TRACED))
    outcome = workspace.snakemake(*SHOWN)
    assert outcome.code == 0, outcome.output
    # What is trained there already is left as it is.
    assert outcome.jobs == {"trace_first_updates": len(TRACED), "draw_figure": 1, "write_table": 1}
    return workspace


def test_a_study_with_first_updates_has_their_records_figure_and_table(traced: Workspace) -> None:
    results = traced.folder / "results" / "tiny"
    names = {path.name for path in (results / "first-updates").iterdir()}
    assert names == {"post-init-adam-lr2e-3-wu0-s1", "post-adam-lr2e-3-wu10-s1"}
    for name in names:
        updates = pd.read_csv(results / "first-updates" / name / "updates.csv")
        assert updates["update"].tolist() == list(range(UPDATES + 1))
        assert updates["sharpness"].notna().tolist() == [True, False, True, False, True]
    table = pd.read_csv(results / "tables" / "first-updates.csv")
    assert set(table["runs"]) == {"Post-LN-init, no warm-up", "Post-LN, warm-up 10"}
    status = traced.run("preln", "status", "results/tiny")
    assert "2 of 2 traces of first updates done" in status.output


def test_a_run_that_is_added_is_traced_alone(traced: Workspace, tmp_path: Path) -> None:
    workspace = traced.copied(tmp_path / "to change")
    workspace.write(study(*TRACED, {"placement": "pre"}))
    assert workspace.would_run(*SHOWN) == {"trace_first_updates": 1, "draw_figure": 1, "write_table": 1}
