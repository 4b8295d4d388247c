"""How far the translation runs of a study are."""

from __future__ import annotations

import json
from pathlib import Path

from preln.config import Study
from preln.fairseq_plugin.log import last_training_line
from preln.runs import Run, expand
from preln.status import SILENT_SECONDS, Progress, Section, newest_state, outcome, silence
from preln.translation.curve import read_record


def sections(study: Study, results: Path, now: float) -> list[Section]:
    """The translation runs' progress: losses of training and of valid in bits a token, BLEU of test in percent."""
    rows = [progress(run, results / "translation" / run.id, now) for run in expand(study)]
    return [Section("runs", "epoch", 1, ("train", "valid", "BLEU"), rows)]


def progress(run: Run, folder: Path, now: float) -> Progress:
    """The progress of `run`, whose folder is `folder`, at the time `now` in seconds since the epoch."""
    epochs = run.settings.epochs
    metrics = folder / "metrics.json"
    if metrics.exists():
        values = json.loads(metrics.read_text(encoding="utf-8"))
        last = values["final"] or {}
        scores = {"train": last.get("train_loss"), "valid": last.get("valid_loss"), "BLEU": last.get("test_bleu")}
        return Progress(run.id, outcome(values), values["epochs"], epochs, scores, last.get("tokens_per_second"))
    current = newest_state(folder)
    if current is None:
        return Progress(run.id, "waiting", 0, epochs)
    record = read_record(current / "record.jsonl")
    last = record[max(record)] if record else {}
    latest = last_training_line(current / "training.log")
    done = max(float(latest.get("update", 0)), max(record, default=0))
    left = None
    if latest and float(latest["ups"]) > 0 and float(latest["update"]) > 0:
        updates_per_epoch = float(latest["num_updates"]) / float(latest["update"])
        left = updates_per_epoch * max(epochs - done, 0) / float(latest["ups"])
    silent = silence(current, ("training.log",), now)
    return Progress(
        run.id,
        "training" if silent < SILENT_SECONDS else "stopped",
        done,
        epochs,
        {
            "train": float(latest["loss"]) if latest else None,
            "valid": last.get("valid_loss"),
            "BLEU": last.get("test_bleu"),
        },
        float(latest["wps"]) if latest else None,
        left,
        silent,
    )
