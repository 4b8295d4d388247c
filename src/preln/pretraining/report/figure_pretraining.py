"""The figure of a study's own pre-training runs, whatever their settings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from preln.config import Study
from preln.jobs.grid import series
from preln.pretraining.report.records import SOURCE, Records
from preln.pretraining.runs import FinetuningJob, PretrainingRun
from preln.report.core import curve_figure, looks
from preln.report.core.curve_figure import Panel, curves_of
from preln.report.core.figure import Figure
from preln.report.core.labels import names
from preln.report.core.validated import ALWAYS

AXIS = "Masked-LM loss (bits/token)"


def pretraining_runs(study: Study, jobs: Sequence[PretrainingRun | FinetuningJob]) -> list[PretrainingRun]:
    """The runs alone, without the fine-tunings."""
    return [job for job in jobs if isinstance(job, PretrainingRun)]


def baseline(runs: Sequence[PretrainingRun]) -> tuple[float, str]:
    """The loss of a uniform guess; records of BERT are without that of a unigram model."""
    return max(math.log2(run.text.vocabulary) for run in runs), "uniform guess"


def panels(records: Records) -> list[list[Panel]]:
    """A panel for each text that has a run that is done."""
    settings = [series(run.settings) for run in records.runs]
    called, _ = names(settings, ALWAYS)
    look = looks.of_runs(settings)
    texts = dict.fromkeys(run.settings.text for run in records.runs if run.id in records.metrics)
    rows = []
    for text in texts:
        runs = [run for run in records.runs if run.settings.text == text]
        title = f"Validation loss, {text}" if len(texts) > 1 else "Validation loss"
        curves = curves_of([records.trained(run) for run in runs], "valid_loss", called, look)
        rows.append([Panel(title, AXIS, curves, baseline=baseline(runs))])
    return rows


FIGURE = Figure(
    name="pretraining",
    title="The study's own pre-training runs",
    caption="Every pre-training run of the study: the validation loss of its masked language model, by update. The "
    "line tells the placement. Several seeds are a mean line, with a band from the lowest to the highest. A run that "
    "diverged is a thin line, and a cross on the edge at the update at which it did. Losses far above a uniform guess "
    "are drawn at the upper edge.",
    source=SOURCE,
    of=pretraining_runs,
    compose=lambda study, records: curve_figure.compose(panels(records), records.note(study)),
    curves=lambda study, records: curve_figure.curves(panels(records)),
)
