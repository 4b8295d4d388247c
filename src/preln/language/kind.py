"""Language models as a kind of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.commands.progress import UPDATES, Progress, training
from preln.config import Study
from preln.jobs.kind import Kind, Number
from preln.language.runs import LanguageRun, expand

if TYPE_CHECKING:
    from pandas import DataFrame


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


def _losses(study: Study, runs: Sequence[LanguageRun], results: Path) -> Iterator[Number]:
    """The last validation losses."""
    from preln.language.report.records import load

    return load(study, runs, results).last_losses()


def _curves(study: Study, runs: Sequence[LanguageRun], results: Path) -> DataFrame:
    """The curves of the validations."""
    from preln.language.report.records import load

    return load(study, runs, results).curves


LANGUAGE = Kind(
    name=LanguageRun.kind,
    title="language models",
    expand=expand,
    unit="update",
    headings=("train", "valid"),
    progress=_progress,
    estimates=_estimates,
    numbers=_losses,
    curves=_curves,
)
