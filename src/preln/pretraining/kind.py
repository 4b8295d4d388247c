"""Pre-training and fine-tuning as kinds of training."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.commands.progress import SILENT_SECONDS, Progress, State, state_in_progress, training
from preln.config import EmbeddedTask, Study
from preln.jobs.kind import Kind, Number
from preln.pretraining.report.records import accuracies, chosen, load, scores_of
from preln.pretraining.runs import FinetuningJob, PretrainingRun, expand, finetunings
from preln.pretraining.training import trained
from preln.records import packed
from preln.records.recording import Record

TASK_TOKENS = 64
"""Assumed tokens in a pair of sentences of MRPC and RTE."""

TASK_PAIRS = {"mrpc": 3668, "rte": 2490}


def _accuracies(study: Study, jobs: Sequence[FinetuningJob], results: Path) -> Iterator[Number]:
    """The accuracies at the grid's best point."""
    records = load(study, jobs, results)
    for job in jobs:
        if best := chosen(scores_of(records, job)):
            for seed, accuracy in accuracies(records, job, best.point).items():
                yield Number(job.id, "accuracy", seed, accuracy)


def _estimate(job: FinetuningJob) -> Estimate:
    """The estimate of a fine-tuning, which needs no text."""
    settings = job.run.settings
    pairs = job.task.pairs if isinstance(job.task, EmbeddedTask) else TASK_PAIRS[job.task.source]
    updates = sum(point.epochs * math.ceil(pairs / point.batch_size) for point in job.points) * job.seeds
    tokens = float(sum(point.epochs for point in job.points) * job.seeds * pairs * TASK_TOKENS)
    batch = max(point.batch_size for point in job.points)
    largest = settings.model_copy(update={"batch_sequences": batch, "sequence_length": TASK_TOKENS})
    model = cost.pretraining(largest, job.run.text.vocabulary)
    return Estimate(model, settings.precision, updates, tokens, after=job.run.id)


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


PRETRAINING = Kind(
    name=PretrainingRun.kind,
    title="pre-trainings",
    expand=expand,
    unit="update",
    progress=training,
    estimates=lambda runs, folder: [
        Estimate.of_updates(run.settings, cost.pretraining(run.settings, run.text.vocabulary)) for run in runs
    ],
    numbers=lambda study, runs, results: load(study, runs, results).last_losses(),
    curves=lambda study, runs, results: load(study, runs, results).curves,
    trained=trained,
)

FINETUNING = Kind(
    name=FinetuningJob.kind,
    title="checkpoints' fine-tunings",
    expand=finetunings,
    unit="fine-tuning",
    progress=finetuning,
    estimates=lambda jobs, folder: [_estimate(job) for job in jobs],
    numbers=_accuracies,
)
