"""Language models as a kind of training."""

from __future__ import annotations

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.commands.progress import training
from preln.jobs.kind import Kind
from preln.language.report.records import load
from preln.language.runs import LanguageRun, expand

LANGUAGE = Kind(
    name=LanguageRun.kind,
    title="language models",
    expand=expand,
    unit="update",
    progress=training,
    estimates=lambda runs, folder: [
        Estimate.of_updates(run.settings, cost.language(run.settings, run.vocabulary)) for run in runs
    ],
    numbers=lambda study, runs, results: load(study, runs, results).last_losses(),
    curves=lambda study, runs, results: load(study, runs, results).curves,
)
