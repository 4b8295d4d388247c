"""The map of failure of language models."""

from __future__ import annotations

import math

from preln.language.report.records import SOURCE, Records
from preln.report.core.failure_map import Ending, Endings
from preln.report.core.failure_map_figure import declared


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


FIGURE, LIMITS = declared(
    "language-", ("Where language models fail", "Limits of the learning rate of language models"), SOURCE, endings
)
