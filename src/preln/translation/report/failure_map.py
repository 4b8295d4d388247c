"""The map of failure of translation runs."""

from __future__ import annotations

import math

from preln.records.recording import AGAIN, RecordError
from preln.report.core.failure_map import Ending, Endings
from preln.report.core.failure_map_figure import declared
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


FIGURE, LIMITS = declared("", ("Where training fails", "Limits of the learning rate"), SOURCE, endings)
