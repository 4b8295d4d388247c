"""Pre-training and fine-tuning as kinds of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from preln.config import Study
from preln.jobs.kind import Kind, Number
from preln.pretraining.estimates import estimates, finetuning_estimates
from preln.pretraining.runs import FinetuningJob, PretrainingRun, expand, finetunings
from preln.pretraining.status import finetuning, pretraining

if TYPE_CHECKING:
    from pandas import DataFrame

    from preln.training.training import TrainedModel


def _losses(study: Study, runs: Sequence[PretrainingRun], results: Path) -> Iterator[Number]:
    """The last validation losses."""
    from preln.pretraining.report.records import load

    return load(study, runs, results).last_losses()


def _accuracies(study: Study, jobs: Sequence[FinetuningJob], results: Path) -> Iterator[Number]:
    """The accuracies at the grid's best point."""
    from preln.pretraining.report.records import accuracies, chosen, load, scores_of

    records = load(study, jobs, results)
    for job in jobs:
        if best := chosen(scores_of(records, job)):
            for seed, accuracy in accuracies(records, job, best.point).items():
                yield Number(job.id, "accuracy", seed, accuracy)


def _curves(study: Study, runs: Sequence[PretrainingRun], results: Path) -> DataFrame:
    """The curves of the validations."""
    from preln.pretraining.report.records import load

    return load(study, runs, results).curves


def _trained(run: PretrainingRun, prepared: Path, folder: Path) -> TrainedModel:
    """The model of a run."""
    # Importing torch takes seconds, which the other commands should not wait for.
    from preln.pretraining.training import trained

    return trained(run, prepared, folder)


PRETRAINING = Kind(
    name=PretrainingRun.kind,
    title="pre-trainings",
    expand=expand,
    unit="update",
    headings=("train", "valid"),
    progress=pretraining,
    estimates=estimates,
    numbers=_losses,
    curves=_curves,
    trained=_trained,
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
