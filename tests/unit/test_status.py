"""`preln status`: what it reads off a run's files at each moment of its life."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preln.config import validate
from preln.fairseq_plugin.log import newest_progress
from preln.files import write_json_lines
from preln.progress import SILENT_SECONDS
from preln.runs import Run, expand
from preln.translation.status import progress
from tests.conftest import study_content

NOW = 1_000_000.0
LINE = {"epoch": 2, "update": 1.5, "loss": "7.5", "ups": "2", "wps": "900", "num_updates": "150", "lr": "0.001"}


@pytest.fixture
def run() -> Run:
    return expand(validate(study_content({"epochs": 4}), "my.yaml"))[0]


def training(folder: Path, *lines: dict[str, Any], written: float = NOW) -> Path:
    """The state of a run that has logged the lines, one whole epoch recorded."""
    state = folder / "state" / "abc"
    state.mkdir(parents=True)
    log = state / "training.log"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (state / "attempts.jsonl").write_text("{}\n", encoding="utf-8")
    times = {"learning_rate": 0.001, "gradient_norm": 1.0, "tokens_per_second": 900.0, "seconds": 50.0}
    scores = {"nll_loss": 7.0, "bleu": 1.25, "sacrebleu": 1.5}
    record = [
        {"epoch": 1, "part": "train", "updates": 100, "loss": 9.0, "nll_loss": 8.5, **times},
        {"epoch": 1, "part": "valid", "loss": 8.0, **scores},
        {"epoch": 1, "part": "test", "loss": 8.5, **scores},
        {"epoch": 2, "part": "train", "updates": 200, "loss": 7.0, "nll_loss": 6.5, **times},
    ]
    write_json_lines(state / "record.jsonl", record)
    for path in state.iterdir():
        os.utime(path, (written, written))
    return log


def test_a_run_that_has_not_begun_waits(run: Run, tmp_path: Path) -> None:
    assert progress(run, tmp_path, NOW).state == "waiting"


def test_a_training_shows_its_newest_loss_and_its_last_whole_epochs_scores(run: Run, tmp_path: Path) -> None:
    training(tmp_path, {**LINE, "update": 1.2, "loss": "7.9"}, LINE)
    row = progress(run, tmp_path, NOW)
    assert (row.state, row.done, row.scores) == ("training", 1.5, {"train": 7.5, "valid": 8.0, "BLEU": 1.25})


def test_the_time_left_is_the_updates_left_by_the_speed(run: Run, tmp_path: Path) -> None:
    # 100 updates an epoch, 2.5 epochs left, 2 updates a second.
    training(tmp_path, LINE)
    assert progress(run, tmp_path, NOW).left == pytest.approx(125)


def test_it_says_when_something_was_written_last(run: Run, tmp_path: Path) -> None:
    training(tmp_path, LINE, written=NOW - 54)
    assert progress(run, tmp_path, NOW).silent == pytest.approx(54)


def test_a_training_that_is_silent_for_long_has_stopped(run: Run, tmp_path: Path) -> None:
    training(tmp_path, LINE, written=NOW - SILENT_SECONDS - 1)
    assert progress(run, tmp_path, NOW).state == "stopped"


def test_a_run_with_metrics_is_done(run: Run, tmp_path: Path) -> None:
    training(tmp_path, LINE)
    final = {"train_loss": 6.0, "valid_loss": 6.5, "test_bleu": 3.0, "tokens_per_second": 900.0}
    metrics = {"status": "finished", "diverged": None, "epochs": 4, "final": final}
    (tmp_path / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    row = progress(run, tmp_path, NOW)
    assert (row.state, row.done, row.scores["BLEU"], row.left) == ("finished", 4, 3.0, None)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"status": "finished"'])
def test_a_record_that_is_damaged_is_named(content: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(content, encoding="utf-8")
    assert progress(run, tmp_path, NOW).state == "damaged: metrics.json"


def test_a_run_that_diverged_says_when(run: Run, tmp_path: Path) -> None:
    metrics = {"status": "diverged", "diverged": {"update": 17}, "epochs": 0, "final": None}
    (tmp_path / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    assert progress(run, tmp_path, NOW).state == "diverged at update 17"


def test_lines_that_are_not_progress_are_passed_over(tmp_path: Path) -> None:
    log = training(tmp_path, LINE, {"epoch": 1, "train_loss": "7.1", "train_ups": "3"})
    with open(log, "a", encoding="utf-8") as file:
        file.write('begin validation\n{"epoch": 2, "upd')
    newest = newest_progress(log)
    assert newest is not None
    assert newest.loss == 7.5
