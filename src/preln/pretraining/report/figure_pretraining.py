"""The figure of a study's own pre-training runs, whatever their settings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from preln.pretraining.report.records import SOURCE, Records
from preln.pretraining.runs import PretrainingRun
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel
from preln.report.core.figure import Figure

AXIS = "Masked-LM loss (bits/token)"


def baseline(runs: Sequence[PretrainingRun]) -> tuple[float, str]:
    """The loss of a uniform guess; records of BERT are without that of a unigram model."""
    return max(math.log2(run.text.vocabulary) for run in runs), "uniform guess"


def panels(records: Records) -> list[list[Panel]]:
    """A panel for each text that has a run that is done."""
    return records.panels(AXIS, lambda run: run.settings.text, baseline)


FIGURE = Figure(
    name="pretraining",
    title="The study's own pre-training runs",
    caption="Every pre-training run of the study: the validation loss of its masked language model, by update. The "
    "line tells the placement. Several seeds are a mean line, with a band from the lowest to the highest. A run that "
    "diverged is a thin line, and a cross on the edge at the update at which it did. Losses far above a uniform guess "
    "are drawn at the upper edge.",
    source=SOURCE,
    # Without the fine-tunings.
    of=lambda study, jobs: [job for job in jobs if isinstance(job, PretrainingRun)],
    compose=lambda study, records: curve_figure.compose(panels(records), records.note(study)),
    curves=lambda study, records: curve_figure.curves(panels(records)),
)
