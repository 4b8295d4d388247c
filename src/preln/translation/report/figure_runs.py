"""The figure of a study's own translation runs, whatever their settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from preln.config import Study
from preln.jobs.runs import Run, series
from preln.report.core import own_runs
from preln.report.core.curves import Curves, by_series
from preln.report.core.figure import Figure
from preln.report.core.labels import label, varying
from preln.report.core.own_runs import OwnRun, Quantity
from preln.translation.report.records import SOURCE, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

QUANTITIES = [
    Quantity("valid_loss", "Validation loss", "Validation loss (bits/token)", is_loss=True),
    Quantity("test_bleu", "BLEU", "Test BLEU", is_loss=False),
]


def runs(records: Records) -> list[OwnRun]:
    """The runs as the figure draws them."""
    # A panel is of one corpus, and the line tells the placement.
    differing = (varying(run.settings for run in records.runs) | {"placement"}) - {"corpus"}
    done = records.summary.set_index("run")
    return [
        OwnRun(
            settings=run.settings,
            name=label(series(run.settings), differing),
            text=run.settings.corpus,
            guess=math.log2(run.corpus.vocabulary),
            curve=records.curves[records.curves["run"] == run.id] if run.id in done.index else None,
            diverged=int(done.diverged_update[run.id])
            if run.id in done.index and done.status[run.id] == "diverged"
            else None,
        )
        for run in records.runs
    ]


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records."""
    return own_runs.compose(study.study, runs(records), QUANTITIES)


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers."""
    return own_runs.curves(runs(records), QUANTITIES)


_MOST_CURVES = 48


def legible(study: Study, runs: Sequence[Run]) -> Sequence[Run]:
    """All runs of a study, unless they are more curves than a reader can tell apart."""
    return runs if len(by_series(runs)) <= _MOST_CURVES else []


FIGURE = Figure(
    name="runs",
    title="The study's own translation runs",
    caption="Every translation run of the study: the validation loss, and BLEU on test, by update. Where one setting "
    "differs between the runs, colour tells it; where several do, each curve has a colour and a marker of "
    "its own. The line tells the placement. Several seeds are a mean line, with a band from the lowest to "
    "the highest. A run that diverged is a thin line, and a cross on the edge at the update at which it did. "
    "The axis of losses is cut off at the loss of a uniform guess, where a curve goes above it.",
    source=SOURCE,
    of=legible,
    compose=compose,
    curves=curves,
)
