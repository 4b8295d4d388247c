"""Pre-training and fine-tuning as kinds of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from preln.commands.progress import validated
from preln.config import Study
from preln.jobs.kind import Kind, Number
from preln.pretraining.estimates import estimates, finetuning_estimates
from preln.pretraining.report.records import accuracies, chosen, load, scores_of
from preln.pretraining.runs import FinetuningJob, PretrainingRun, expand, finetunings
from preln.pretraining.status import finetuning
from preln.pretraining.training import trained


def _accuracies(study: Study, jobs: Sequence[FinetuningJob], results: Path) -> Iterator[Number]:
    """The accuracies at the grid's best point."""
    records = load(study, jobs, results)
    for job in jobs:
        if best := chosen(scores_of(records, job)):
            for seed, accuracy in accuracies(records, job, best.point).items():
                yield Number(job.id, "accuracy", seed, accuracy)


PRETRAINING = Kind(
    name=PretrainingRun.kind,
    title="pre-trainings",
    expand=expand,
    unit="update",
    headings=("train", "valid"),
    progress=validated,
    estimates=estimates,
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
    estimates=finetuning_estimates,
    numbers=_accuracies,
)
