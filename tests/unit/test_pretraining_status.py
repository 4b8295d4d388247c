"""`preln status` of BERT: what it reads off a pre-training's and a fine-tuning's files at each moment of its life."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preln.commands.progress import SILENT_SECONDS, training
from preln.config import validate
from preln.pretraining.kind import finetuning
from preln.pretraining.runs import FinetuningJob, PretrainingRun, expand, finetunings
from preln.records.files import append_json, sealed
from tests.conftest import bert_content
from tests.made_up.states import LINE, NOW

ROW = {"batch_size": 16, "learning_rate": 1e-3, "epochs": 1, "seed": 1, "f1": 0.5, "seconds": 30.0}


@pytest.fixture
def run() -> PretrainingRun:
    return expand(validate(bert_content(), "my.yaml"))[0]


@pytest.fixture
def job() -> FinetuningJob:
    return finetunings(validate(bert_content(), "my.yaml"))[0]


def state(folder: Path, files: dict[str, Any], written: float = NOW) -> None:
    """A job's state with files of lines of JSON."""
    current = folder / "state" / "abc"
    for name, lines in {"attempts.jsonl": [{}], **files}.items():
        for line in lines:
            current.mkdir(parents=True, exist_ok=True)
            append_json(current / name, line)
    for path in current.iterdir():
        os.utime(path, (written, written))


def test_what_has_not_begun_waits(run: PretrainingRun, job: FinetuningJob, tmp_path: Path) -> None:
    assert training(run, tmp_path, NOW).state == finetuning(job, tmp_path, NOW).state == "waiting"


def test_a_pre_training_shows_its_updates_its_losses_and_the_time_left(run: PretrainingRun, tmp_path: Path) -> None:
    log, validations = [{**LINE, "num_updates": "8"}], [{"updates": 6, "valid_loss": 8.25}]
    state(tmp_path, {"training.log": log, "record.jsonl": validations})
    row = training(run, tmp_path, NOW)
    assert (row.state, row.done, row.of) == ("training", 8, run.settings.updates)
    assert row.scores == {"train": 7.5, "valid": 8.25}
    assert row.left == pytest.approx((run.settings.updates - 8) / 2)


def test_fine_tunings_show_how_many_are_done_and_their_mean_accuracy(job: FinetuningJob, tmp_path: Path) -> None:
    rows = [{**ROW, "accuracy": 0.5}, {**ROW, "seed": 2, "accuracy": 0.75}, {**ROW, "seed": 3, "accuracy": None}]
    state(tmp_path, {"record.jsonl": rows})
    row = finetuning(job, tmp_path, NOW)
    assert (row.state, row.done, row.of, row.scores) == ("fine-tuning", 3, 4, {"accuracy": 0.625})
    assert row.left == pytest.approx(30)


def test_a_fine_tuning_that_takes_long_has_not_stopped(job: FinetuningJob, tmp_path: Path) -> None:
    rows = [{**ROW, "accuracy": 0.5, "seconds": SILENT_SECONDS}]
    state(tmp_path, {"record.jsonl": rows}, NOW - 2 * SILENT_SECONDS)
    assert finetuning(job, tmp_path, NOW).state == "fine-tuning"


SCORES, FINISHED = "seed,accuracy\n1,0.5\n2,\n", json.dumps(sealed({"status": "finished"}))


def test_fine_tunings_with_a_run_json_are_done_without_their_state(job: FinetuningJob, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    (tmp_path / "run.json").write_text(FINISHED, encoding="utf-8")
    row = finetuning(job, tmp_path, NOW)
    assert (row.state, row.done, row.scores) == ("finished", 2, {"accuracy": 0.5})


@pytest.mark.parametrize(
    ("record", "scores", "damaged"),
    [
        ("", SCORES, "run.json"),
        ("[]", SCORES, "run.json"),
        ('{"status": "finished"}', SCORES, "run.json"),
        (FINISHED, "", "scores.csv"),
        (FINISHED, "seed,accuracy\n1,half\n", "scores.csv"),
        (FINISHED, None, "scores.csv"),
    ],
)
def test_a_fine_tunings_record_that_is_damaged_is_named(
    record: str, scores: str | None, damaged: str, job: FinetuningJob, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(record, encoding="utf-8")
    if scores is not None:
        (tmp_path / "scores.csv").write_text(scores, encoding="utf-8")
    assert finetuning(job, tmp_path, NOW).told().plain == f"damaged ({damaged})"
