"""The length and the cost of pre-trainings and fine-tunings before they are run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.config import EmbeddedTask
from preln.pretraining.runs import FinetuningJob, PretrainingRun

TASK_TOKENS = 64
"""Assumed tokens in a pair of sentences of MRPC and RTE."""

TASK_PAIRS = {"mrpc": 3668, "rte": 2490}


def estimates(runs: Sequence[PretrainingRun], folder: Path) -> list[Estimate]:
    """The estimate of each pre-training, which needs no text."""
    return [Estimate.of_updates(run.settings, cost.pretraining(run.settings, run.text.vocabulary)) for run in runs]


def finetuning_estimates(jobs: Sequence[FinetuningJob], folder: Path) -> list[Estimate]:
    """The estimate of each fine-tuning, which needs no text."""
    return [_finetuning(job) for job in jobs]


def _finetuning(job: FinetuningJob) -> Estimate:
    settings = job.run.settings
    pairs = job.task.pairs if isinstance(job.task, EmbeddedTask) else TASK_PAIRS[job.task.source]
    updates = sum(point.epochs * math.ceil(pairs / point.batch_size) for point in job.points) * job.seeds
    tokens = float(sum(point.epochs for point in job.points) * job.seeds * pairs * TASK_TOKENS)
    batch = max(point.batch_size for point in job.points)
    largest = settings.model_copy(update={"batch_sequences": batch, "sequence_length": TASK_TOKENS})
    model = cost.pretraining(largest, job.run.text.vocabulary)
    return Estimate(model, settings.precision, updates, tokens, after=job.run.id)
