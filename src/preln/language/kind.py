"""Language models as a kind of training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.commands.progress import validated
from preln.jobs.kind import Kind
from preln.language.report.records import load
from preln.language.runs import LanguageRun, expand


def _estimates(runs: Sequence[LanguageRun], folder: Path) -> list[Estimate]:
    """The estimate of each training, which needs no text."""
    return [Estimate.of_updates(run.settings, cost.language(run.settings, run.vocabulary)) for run in runs]


LANGUAGE = Kind(
    name=LanguageRun.kind,
    title="language models",
    expand=expand,
    unit="update",
    headings=("train", "valid"),
    progress=validated,
    estimates=_estimates,
    numbers=lambda study, runs, results: load(study, runs, results).last_losses(),
    curves=lambda study, runs, results: load(study, runs, results).curves,
)
