"""Language models as a kind of training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.commands.progress import UPDATES, Progress, training
from preln.jobs.kind import Kind
from preln.language.report.records import load
from preln.language.runs import LanguageRun, expand


def _progress(run: LanguageRun, folder: Path, now: float) -> Progress:
    """A training's progress at the time `now` in seconds since the epoch, with losses in bits a token."""
    return training(run, run.settings.updates, folder, now, UPDATES)


def _estimates(runs: Sequence[LanguageRun], folder: Path) -> list[Estimate]:
    """The estimate of each training, which needs no text."""
    return [_estimate(run) for run in runs]


def _estimate(run: LanguageRun) -> Estimate:
    settings = run.settings
    model = cost.language(settings, run.vocabulary)
    tokens = float(settings.updates * settings.accumulate * model.tokens_per_batch)
    return Estimate(model, settings.precision, settings.updates, tokens, warmup=settings.warmup)


LANGUAGE = Kind(
    name=LanguageRun.kind,
    title="language models",
    expand=expand,
    unit="update",
    headings=("train", "valid"),
    progress=_progress,
    estimates=_estimates,
    numbers=lambda study, runs, results: load(study, runs, results).last_losses(),
    curves=lambda study, runs, results: load(study, runs, results).curves,
)
