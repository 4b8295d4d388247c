"""Clones share what is prepared: a link to the `resources/` of another is all that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflow.conftest import Workspace, copy_repository

RUN = {"placement": "pre", "epochs": 1}
PREPARATION = {"prepare_text", "prepare_bpe", "binarise"}


def clone(folder: Path) -> Workspace:
    workspace = copy_repository(folder)
    workspace.write_study(RUN)
    return workspace


def ages(folder: Path) -> dict[str, int]:
    """When each file was written, by its path."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.slow
def test_a_clone_trains_on_the_text_that_another_has_prepared_and_leaves_it_as_it_is(tmp_path: Path) -> None:
    first, second = clone(tmp_path / "the first clone"), clone(tmp_path / "the second clone")
    assert set(second.would_run()) > PREPARATION
    outcome = first.snakemake("prepared")
    assert set(outcome.jobs) == PREPARATION, outcome.output
    before = ages(first.folder / "resources")

    (second.folder / "resources").symlink_to(first.folder / "resources")
    assert not PREPARATION & set(second.would_run())
    outcome = second.snakemake()
    assert outcome.code == 0, outcome.output
    assert outcome.jobs["train_translation"] == 1

    assert ages(first.folder / "resources") == before
    assert second.snakemake().jobs == {}
    assert not PREPARATION & set(first.would_run())
