"""Translation runs as the curve figure draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.report.core import looks
from preln.report.core.curve_figure import Panel, Reference, TrainedRun, curves_of, progress
from preln.report.core.looks import Look
from preln.report.reference.translation import Quantity
from preln.theory.trace_jobs import NOT_IN_A_TRACE, TracedSettings
from preln.theory.trace_jobs import expand as traces_of
from preln.translation.report.four_curves import shown
from preln.translation.report.records import Records
from preln.translation.runs import Run, expand

COLUMNS: dict[Quantity, str] = {"valid_loss": "valid_loss", "bleu": "test_bleu"}
AXES = {"valid_loss": "Validation loss (bits/token)", "bleu": "Test BLEU"}
TITLES = {"valid_loss": "Validation loss", "bleu": "BLEU"}


def trained(records: Records, runs: Sequence[Run]) -> list[TrainedRun]:
    """Runs as the curve figure draws them."""
    done = records.summary.set_index("run")
    points = {str(name): table for name, table in records.curves.groupby("run")}
    drawn = []
    for run in runs:
        diverged = run.id in done.index and done.status[run.id] == "diverged"
        curve = points.get(run.id, records.curves.iloc[:0]) if run.id in done.index else None
        drawn.append(TrainedRun(run.settings, curve, int(done.diverged_update[run.id]) if diverged else None))
    return drawn


def progress_of(study: Study, records: Records) -> str:
    """A sentence that counts the runs of a figure that are done."""
    return progress(study.study, [run.settings.corpus for run in records.runs], trained(records, records.runs))


def looks_of(study: Study) -> dict[Any, Look]:
    """The look of each run, trained or traced, in every figure of a study. The finding's come first, for the first
    differ most; a trace looks as the training of its run does."""
    runs = expand(study)
    first = shown(study, runs)
    figures: dict[Any, set[int | str]] = {}
    for run in runs:
        figures.setdefault(series(run.settings), set()).update(run.figures, {"finding"} if run in first else ())
    trained = {_as_traced(curve): curve for curve in figures}
    traces = {
        curve: trained.get(_as_traced(curve), curve) for curve in (series(job.run.settings) for job in traces_of(study))
    }
    for curve in traces.values():
        figures.setdefault(curve, set()).add("first-updates")
    in_figures = sorted(runs, key=lambda run: (not run.figures, run.figures))
    drawn = looks.of_runs([*(run.settings for run in (*first, *in_figures)), *traces.values()], figures)
    return {**drawn, **{curve: drawn[run] for curve, run in traces.items()}}


def _as_traced(settings: TracedSettings) -> TracedSettings:
    """The settings that a trace depends on."""
    return settings.model_copy(update=dict.fromkeys(NOT_IN_A_TRACE))


def baseline(records: Records, runs: Sequence[Run]) -> tuple[float, str]:
    """The loss above which nothing was learned: of a model that knows how frequent each token is, or where a record is
    without it, of a uniform guess."""
    of_runs = records.summary["run"].isin([run.id for run in runs])
    unigram = records.summary.loc[of_runs, "constant_guess"].dropna().astype(float)
    if len(unigram):
        return float(unigram.max()), "unigram baseline"
    return max(math.log2(run.corpus.vocabulary) for run in runs), "uniform guess"


def panel(
    title: str,
    quantity: Quantity,
    records: Records,
    runs: Sequence[Run],
    called: dict[RunSettings, str],
    looks: dict[Any, Look],
    references: Sequence[Reference] = (),
) -> Panel:
    """A quantity of some runs over updates."""
    return Panel(
        title=title,
        y_title=AXES[quantity],
        curves=curves_of(trained(records, runs), COLUMNS[quantity], called, looks),
        references=tuple(references),
        baseline=baseline(records, runs) if runs and quantity == "valid_loss" else None,
        is_score=quantity == "bleu",
    )
