"""Where does training fail? (C9, C10, C12)"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from docs.committed import study_of
from docs.markdown import grid, limit, rate
from preln.jobs.runs import expand
from preln.placements import PLACEMENTS
from preln.translation.report.failure_map import Cell, Map, maps
from preln.translation.report.records import Records
from preln.translation.report.records import load as load_records

STEP_OF_THE_GRID = 2.2


@dataclass(frozen=True)
class Limits:
    """The largest rates at which a placement trains, without a warm-up and with the longest; None where none does."""

    without: float | None
    longest: float | None

    @property
    def ratio(self) -> float:
        """By how much the longest warm-up raises the limit. Infinite where nothing trains without one."""
        if self.longest is None:
            return math.nan
        return math.inf if self.without is None else self.longest / self.without


def answer(post: Limits, pre: Limits, post_of_large_batches: Limits) -> list[str]:
    """What the map of failure says. A limit of a batch of four times the tokens is of one seed."""
    found = []
    if post.ratio >= 4:
        found.append("Post-LN needs the warm-up")
    if pre.ratio <= STEP_OF_THE_GRID:
        found.append("Pre-LN does not need it")
    raised = Limits(post.without, post_of_large_batches.without).ratio
    # The grid's steps are 2.14 to 2.17, and its rates have two digits.
    if raised >= 2.1:
        found.append("noise sets Post-LN's limit")
    return found or ["none of the three"]


def limits(one: Map) -> Limits:
    """The limits of a map's model, with its shortest and its longest warm-up."""
    return Limits(one.limit(one.warmups[0]), one.limit(one.warmups[-1]))


def table(results: Path) -> str:
    """What the runs of `failure-map` say that are done."""
    study = study_of("failure-map")
    return where_training_fails(load_records(study, expand(study), results))


def where_training_fails(records: Records) -> str:
    """The last losses of the runs with small batches that are done, means over seeds; bold where the rate does not
    train. When all runs are done, the limits of each model, and the answer."""
    found = maps(records)
    small, large = min(one.settings.batch_tokens for one in found), max(one.settings.batch_tokens for one in found)
    shown = [one for one in found if one.settings.batch_tokens == small]

    def written(cell: Cell | None) -> str:
        if cell is None:
            return ""
        return f"{cell.loss:.2f}" if cell.trains else f"**{cell.loss:.2f}**"

    rows = [
        (rate(peak), *(written(one.cells.get((peak, warmup))) for one in shown for warmup in one.warmups))
        for peak in shown[0].rates
    ]
    head = [f"{PLACEMENTS[one.settings.placement].label}, {warmup}" for one in shown for warmup in one.warmups]
    losses = grid(["peak rate", *head], rows)
    done, of_all = len(records.summary), len(records.runs)
    if done < of_all:
        return f"{losses}\n**{done} of {of_all} runs are done, so there is no answer by the rule yet.**\n"

    rows = [
        (
            *(PLACEMENTS[one.settings.placement].label, f"{one.settings.batch_tokens:,}"),
            *(limit(one.limit(warmup)) for warmup in one.warmups),
        )
        for one in found
    ]
    head = [f"warm-up of {warmup}" if warmup else "no warm-up" for warmup in shown[0].warmups]
    of = {(one.settings.placement, one.settings.batch_tokens): limits(one) for one in found}
    said = answer(of["post", small], of["pre", small], of["post", large])
    of_models = grid(["limit of", "tokens an update", *head], rows)
    return f"{losses}\n{of_models}\n**The answer by the rule: {'; '.join(said)}.**\n"
