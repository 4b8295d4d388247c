"""The map of failure of translation runs."""

from __future__ import annotations

import math

from preln.records.recording import AGAIN, RecordError
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
from preln.translation.report.records import SOURCE, Records


def endings(records: Records) -> Endings:
    """The ends of the runs.

    Raises:
        RecordError: if a run's record does not have the unigram baseline of its text, for it cannot be judged.
    """
    done = {row["run"]: row for row in records.summary.to_dict("records")}
    if without := [name for name, row in done.items() if math.isnan(row["constant_guess"])]:
        raise RecordError(f"{without[0]}: metrics.json has no constant_guess; {AGAIN}")
    ended = (
        Ending(
            run.settings,
            float(row["final_valid_loss"]) if row["status"] == "finished" else math.inf,
            float(row["constant_guess"]),
            int(row["updates"]),
        )
        for run in records.runs
        if (row := done.get(run.id))
    )
    texts = sorted({run.settings.corpus for run in records.runs})
    return Endings(tuple(run.settings for run in records.runs), tuple(ended), tuple(texts))


FIGURE = Figure(
    name="failure-map",
    title="Where training fails",
    caption=failure_map_figure.CAPTION,
    source=SOURCE,
    of=legible,
    compose=lambda study, records: failure_map_figure.compose(study, endings(records)),
)
LIMITS = Table(
    name="failure-limits",
    title="Limits of the learning rate",
    caption=LIMITS_CAPTION,
    source=SOURCE,
    of=in_a_map,
    make=lambda study, records: limits_table(study, endings(records)),
    computed=LIMITS_COMPUTED,
)
