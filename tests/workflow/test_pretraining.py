"""BERT through real Snakemake: from text to figure 5, and what a change runs again."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.conftest import MakeOnce, bert_content
from tests.workflow.conftest import Workspace, run_once


def content(*runs: dict[str, Any]) -> dict[str, Any]:
    return bert_content(*(runs or ({"placement": ["post", "pre"]},)), checkpoints=[12])


@pytest.fixture(scope="module")
def trained(make_once: MakeOnce) -> Workspace:
    return run_once(make_once, "a trained BERT", content())


@pytest.fixture
def again(trained: Workspace, tmp_path: Path) -> Workspace:
    return trained.copied(tmp_path / "the same again")


def test_a_study_of_bert_alone_has_its_figures_and_tables(trained: Workspace) -> None:
    results = trained.folder / "results" / "tiny"
    names = {path.name for folder in ("figures", "tables") for path in (results / folder).iterdir()}
    tables = {f"{name}.{form}" for name in ("pretraining", "finetuning") for form in ("csv", "md", "tex")}
    assert names == {f"figure-{name}.{form}" for name in ("5", "pretraining") for form in ("pdf", "png")} | tables
    assert len(pd.read_csv(results / "tables" / "finetuning.csv")) == 2


WRITTEN = {"write_table": 2, "judge_claims": 1, "write_report": 1}


@pytest.mark.parametrize(
    ("runs", "finetuning", "jobs"),
    [
        ([], {"seeds": 3}, {"finetune": 2, "draw_figure": 1, "write_records": 1}),
        ([], {"fixed": {"batch_size": 16, "learning_rate": 2e-3, "epochs": 1}}, {"draw_figure": 2}),
        (
            [{"placement": "post"}, {"placement": "pre", "learning_rate": 5e-3}],
            {},
            {"pretrain": 1, "finetune": 1, "draw_figure": 2, "write_records": 1},
        ),
    ],
    ids=["another grid", "another fixed point", "another rate of a run"],
)
def test_a_change_of_the_study_runs_what_depends_on_it(
    runs: list[dict[str, Any]], finetuning: dict[str, Any], jobs: dict[str, int], again: Workspace
) -> None:
    changed = content(*runs)
    changed["finetuning"] |= finetuning
    again.write(changed)
    assert again.would_run() == WRITTEN | jobs


def test_a_clone_pre_trains_again_what_is_to_be_fine_tuned(again: Workspace) -> None:
    again.as_cloned()
    assert again.would_compute() == set()
    changed = content()
    changed["finetuning"]["seeds"] = 3
    again.write(changed)
    jobs = again.would_run()
    assert (jobs["prepare_english"], jobs["pretrain"], jobs["finetune"]) == (1, 2, 2)
    assert len(again.would_compute()) == 4
