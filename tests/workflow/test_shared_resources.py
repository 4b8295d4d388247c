"""Clones share what is prepared: a link to the `resources/` of another is all that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflow.conftest import Workspace

RUN = {"placement": "pre", "epochs": 1}
PREPARATION = {"prepare_text", "prepare_bpe", "binarise"}


def ages(folder: Path) -> dict[str, int]:
    """When each file was written, by its path."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.slow
def test_a_clone_trains_on_the_text_that_another_has_prepared_and_leaves_it_as_it_is(
    again: Workspace, fresh: Workspace
) -> None:
    fresh.write_study(RUN)
    assert set(fresh.would_run()) > PREPARATION
    before = ages(again.folder / "resources")

    (fresh.folder / "resources").symlink_to(again.folder / "resources")
    outcome = fresh.snakemake("--until", "train_translation")
    assert (outcome.code, outcome.jobs) == (0, {"train_translation": 1}), outcome.output

    assert ages(again.folder / "resources") == before
    assert "train_translation" not in fresh.would_run()
    assert again.would_run() == {}
