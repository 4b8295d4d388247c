"""Progress of a checkpoint's fine-tunings."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable
from pathlib import Path

from preln.commands.progress import SILENT_SECONDS, Progress, State, state_in_progress
from preln.pretraining.runs import FinetuningJob
from preln.records import packed
from preln.records.record import Record


def finetuning(job: FinetuningJob, folder: Path, now: float) -> Progress:
    """The progress of a checkpoint's fine-tunings on a task at the time `now` in seconds since the epoch, with the mean
    accuracy on dev of the finished ones."""
    wanted = len(job.points) * job.seeds
    record = Record(job, folder)
    if packed.exists(record.path) and not record.is_of_other_settings:
        values = record.content
        state = values.get("status", "")
        damaged = record.damaged if state in (State.FINISHED, State.NOT_REACHED) else record.path
        if damaged:
            return Progress.damaged(job.id, damaged, wanted)
        try:
            header, *rows = csv.reader(packed.read_bytes(folder / "scores.csv").decode().splitlines())
            column = header.index("accuracy")
            scores = [float(row[column] or "nan") for row in rows]
        except (OSError, ValueError, IndexError):
            return Progress.damaged(job.id, folder / "scores.csv", wanted)
        accuracy, seconds = _mean(scores), values.get("seconds")
        return Progress(job.id, State(state), len(scores), wanted, scores={"accuracy": accuracy}, seconds=seconds)
    current = state_in_progress(job, folder)
    if current is None:
        return Progress(job.id, State.WAITING, 0, wanted)
    done = current.entries()
    seconds = _mean([entry["seconds"] for entry in done]) or 0.0
    silent = current.silence(current.record, now)
    return Progress(
        job.id,
        # A fine-tuning writes its record only at its end.
        State.FINE_TUNING if silent < max(SILENT_SECONDS, 3 * seconds) else State.STOPPED,
        len(done),
        wanted,
        scores={"accuracy": _mean([entry["accuracy"] for entry in done])},
        left=seconds * (wanted - len(done)) if done else None,
        silent=silent,
        seconds=seconds * wanted if done else None,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are numbers; None if there are none."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.fmean(known) if known else None
