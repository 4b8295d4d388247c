"""Pre-training and fine-tuning as kinds of training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.commands.progress import validated
from preln.config import EmbeddedTask, Study
from preln.jobs.kind import Kind, Number
from preln.pretraining.report.records import accuracies, chosen, load, scores_of
from preln.pretraining.runs import FinetuningJob, PretrainingRun, expand, finetunings
from preln.pretraining.status import finetuning
from preln.pretraining.training import trained

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


PRETRAINING = Kind(
    name=PretrainingRun.kind,
    title="pre-trainings",
    expand=expand,
    unit="update",
    headings=("train", "valid"),
    progress=validated,
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
    headings=("accuracy",),
    progress=finetuning,
    estimates=lambda jobs, folder: [_estimate(job) for job in jobs],
    numbers=_accuracies,
)
