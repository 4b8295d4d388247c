"""The figure of a study's own pre-training runs, whatever their settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from preln.config import Study
from preln.pretraining.report.labels import names
from preln.pretraining.report.records import SOURCE, Records
from preln.pretraining.runs import FinetuningJob, PretrainingRun
from preln.report.core import own_runs
from preln.report.core.curves import Curves
from preln.report.core.figure import Figure
from preln.report.core.own_runs import OwnRun, Quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

QUANTITIES = [Quantity("valid_loss", "Validation loss", "Masked-LM loss (bits/token)", is_loss=True)]


def pretraining_runs(study: Study, jobs: Sequence[PretrainingRun | FinetuningJob]) -> list[PretrainingRun]:
    """The runs alone, without the fine-tunings."""
    return [job for job in jobs if isinstance(job, PretrainingRun)]


def runs(records: Records) -> list[OwnRun]:
    """The runs as the figure draws them."""
    called = names(records.runs)
    found = []
    for run in records.runs:
        metrics = records.metrics.get(run.id)
        diverged = metrics["diverged"]["update"] if metrics and metrics["diverged"] else None
        curve = records.curves[records.curves["run"] == run.id] if metrics else None
        guess = math.log2(run.text.vocabulary)
        found.append(OwnRun(run.settings, called[run.id], run.settings.text, guess, curve, diverged))
    return found


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records."""
    return own_runs.compose(study.study, runs(records), QUANTITIES)


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers."""
    return own_runs.curves(runs(records), QUANTITIES)


FIGURE = Figure(
    name="pretraining",
    title="The study's own pre-training runs",
    caption="Every pre-training run of the study: the validation loss of its masked language model, by update. Where "
    "one setting differs between the runs, colour tells it; where several do, each curve has a colour and a "
    "marker of its own. The line tells the placement. Several seeds are a mean line, with a band from the "
    "lowest to the highest. A run that diverged is a thin line, and a cross on the edge at the update at "
    "which it did. The axis of losses is cut off at the loss of a uniform guess, where a curve goes above "
    "it.",
    source=SOURCE,
    of=pretraining_runs,
    compose=compose,
    curves=curves,
)
