"""The largest rate that each placement bears with each warm-up."""

from __future__ import annotations

import math

from preln.config import Study
from preln.libraries import pd
from preln.report.core.forms import MISSING, Content, rounded
from preln.report.core.table import Table
from preln.translation.report.failure_map import MARGIN, in_a_map, maps
from preln.translation.report.records import SOURCE, Records
from preln.values import short

_COLUMNS = ["model", "warmup", "limit", "best_rate", "best_valid_loss", "runs", "failed", "constant_guess"]


def make(study: Study, records: Records) -> Content:
    """The table of the runs that are done."""
    rows = []
    for model in maps(records):
        for warmup in model.warmups:
            if cells := list(model.at(warmup).values()):
                limit, best = model.limit(warmup), model.best(warmup)
                rate, loss = (best[0], best[1].loss) if best else (math.nan, math.nan)
                runs, failed = sum(cell.seeds for cell in cells), sum(cell.failed for cell in cells)
                limit = math.nan if limit is None else limit
                rows.append((model.name, warmup, limit, rate, loss, runs, failed, cells[0].guess))
    full = pd.DataFrame(rows, columns=_COLUMNS)
    text = pd.DataFrame(
        {
            "Model": full["model"],
            "Warm-up": full["warmup"],
            "Limit": full["limit"].map(_rate),
            "Best rate": full["best_rate"].map(_rate),
            "Valid. loss there": full["best_valid_loss"].map(lambda loss: rounded(loss, 2)),
            "Runs": full["runs"],
            "Failed": full["failed"],
            "Constant guess": full["constant_guess"].map(lambda loss: rounded(loss, 2)),
        }
    )
    title = f"Study {study.study}: {full['runs'].sum()} of {len(records.runs)} runs."
    return Content(full, text, title, [NOTE])


def _rate(value: float) -> str:
    return MISSING if math.isnan(value) else short(value)


NOTE = (
    f"A run fails if it diverges, or ends less than {MARGIN} bits a token below the unigram baseline. A rate trains if "
    "at most a third of its seeds fail. The limit is the largest rate that trains; there is none if no lower one "
    "trains. Losses are means of the seeds that did not diverge."
)

TABLE = Table(
    name="failure-limits",
    title="Limits of the learning rate",
    caption="For each model and length of warm-up, the largest peak learning rate that trains, the best one, and how "
    "many runs fail.",
    source=SOURCE,
    of=in_a_map,
    make=make,
    computed=["best_valid_loss", "constant_guess"],
)
