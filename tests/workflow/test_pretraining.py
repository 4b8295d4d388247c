"""BERT through real Snakemake: from text to figure 5, and what a change runs again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.conftest import MakeOnce, bert_content
from tests.workflow.conftest import Workspace, copy_repository

pytestmark = pytest.mark.slow


def content(*runs: dict[str, Any]) -> dict[str, Any]:
    return bert_content(*(runs or ({"placement": ["post", "pre"]},)), checkpoints=[12])


@pytest.fixture(scope="module")
def trained(make_once: MakeOnce) -> Workspace:
    def fill(folder: Path) -> None:
        workspace = copy_repository(folder)
        workspace.write(content())
        outcome = workspace.snakemake()
        assert outcome.code == 0, outcome.output

    return Workspace(make_once("a trained BERT", fill))


@pytest.fixture
def again(trained: Workspace, tmp_path: Path) -> Workspace:
    return trained.copied(tmp_path / "the same again")


def test_a_study_of_bert_alone_has_its_figures_and_tables(trained: Workspace) -> None:
    results = trained.folder / "results" / "tiny"
    names = {path.name for folder in ("figures", "tables") for path in (results / folder).iterdir()}
    tables = {f"{name}.{form}" for name in ("pretraining", "finetuning") for form in ("csv", "md", "tex")}
    assert names == {f"figure-{name}.{form}" for name in ("5", "pretraining") for form in ("pdf", "png")} | tables
    assert len(pd.read_csv(results / "tables" / "finetuning.csv")) == 2


def test_another_grid_fine_tunes_and_pre_trains_nothing(again: Workspace) -> None:
    changed = content()
    changed["finetuning"]["seeds"] = 3
    again.write(changed)
    assert again.would_run() == {
        "finetune": 2,
        "draw_figure": 1,
        "write_table": 2,
        "judge_claims": 1,
        "write_report": 1,
        "write_records": 1,
    }


def test_another_fixed_point_trains_nothing(again: Workspace) -> None:
    changed = content()
    changed["finetuning"]["fixed"]["learning_rate"] = 2e-3
    again.write(changed)
    assert again.would_run() == {"draw_figure": 2, "write_table": 2, "judge_claims": 1, "write_report": 1}


def test_another_rate_of_a_run_trains_it_and_fine_tunes_its_checkpoint(again: Workspace) -> None:
    again.write(content({"placement": "post"}, {"placement": "pre", "learning_rate": 5e-3}))
    assert again.would_run() == {
        "pretrain": 1,
        "finetune": 1,
        "draw_figure": 2,
        "write_table": 2,
        "judge_claims": 1,
        "write_report": 1,
        "write_records": 1,
    }


def test_a_clone_pre_trains_again_what_is_to_be_fine_tuned(again: Workspace) -> None:
    again.as_cloned()
    assert again.would_compute() == set()
    changed = content()
    changed["finetuning"]["seeds"] = 3
    again.write(changed)
    jobs = again.would_run()
    assert (jobs["prepare_english"], jobs["pretrain"], jobs["finetune"]) == (1, 2, 2)
    assert len(again.would_compute()) == 4


def test_the_summary_shows_both_tables(trained: Workspace) -> None:
    outcome = trained.run("python", "-m", "preln", "summary", "results/tiny")
    assert outcome.code == 0, outcome.output
    assert "Speed-up" in outcome.output
    assert "Majority (%)" in outcome.output
