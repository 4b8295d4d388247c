"""The map of failure of language models."""

from __future__ import annotations

import math

from preln.language.report.records import SOURCE, Records
from preln.report.core import failure_map_figure
from preln.report.core.failure_map import (
    LIMITS_CAPTION,
    LIMITS_COMPUTED,
    Ending,
    Endings,
    in_a_map,
    legible,
    limits_table,
)
from preln.report.core.figure import Figure
from preln.report.core.table import Table


def endings(records: Records) -> Endings:
    """The ends of the runs."""
    ended = (
        Ending(
            run.settings,
            math.inf if metrics["diverged"] else metrics["final"]["valid_loss"],
            metrics["unigram_baseline"],
            metrics["updates"],
        )
        for run in records.runs
        if (metrics := records.metrics.get(run.id))
    )
    texts = sorted({run.settings.text for run in records.runs})
    return Endings(tuple(run.settings for run in records.runs), tuple(ended), tuple(texts))


FIGURE = Figure(
    name="language-failure-map",
    title="Where language models fail",
    caption=failure_map_figure.CAPTION,
    source=SOURCE,
    of=legible,
    compose=lambda study, records: failure_map_figure.compose(study, endings(records)),
)
LIMITS = Table(
    name="language-failure-limits",
    title="Limits of the learning rate of language models",
    caption=LIMITS_CAPTION,
    source=SOURCE,
    of=in_a_map,
    make=lambda study, records: limits_table(study, endings(records)),
    computed=LIMITS_COMPUTED,
)
