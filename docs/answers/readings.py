"""What do the three readings of "no warm-up" come to? (C9, C10)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import HIGHER_RATE, LONG_WARMUP, PAPERS_RATE, UPDATES, of_half_the_width
from docs.committed import Ends, by_settings
from docs.markdown import each_seed, grid, rate, warm_up
from preln.config import RunSettings
from preln.schedules import of as schedule_of
from preln.translation.report.budgets import sum_of_rates

ORDER = ("warmup", "shift", "hold")
"""The readings, by the sums of their rates."""


@dataclass(frozen=True)
class Reading:
    """A run of Post-LN with Adam, without a warm-up or with the long one.

    Attributes:
        total: the sum of its rates, in peak rates.
    """

    learning_rate: float
    warmup: int
    anchor: str
    total: int


def read(results: Path) -> dict[Reading, Ends]:
    """The ends of the runs of three epochs that are done, by rate; the warm-up is last."""

    def reading(its: RunSettings) -> Reading | None:
        is_asked = (its.placement, its.optimizer, its.schedule, its.epochs) == ("post", "adam", "inverse-sqrt", 3)
        if not is_asked or its.learning_rate not in (PAPERS_RATE, HIGHER_RATE) or its.warmup not in (0, LONG_WARMUP):
            return None
        total = sum_of_rates(schedule_of(its), UPDATES) / its.learning_rate
        return Reading(its.learning_rate, its.warmup, its.anchor, round(total))

    def place(one: Reading) -> tuple[float, int, int]:
        return one.learning_rate, one.warmup, ORDER.index(one.anchor)

    found = by_settings(of_half_the_width(results), reading)
    return {one: found[one] for one in sorted(found, key=place)}


def table(results: Path) -> str:
    """The readings at each rate, and the long warm-up."""
    rows = [
        (
            *(rate(one.learning_rate), warm_up(one.warmup), "" if one.warmup else f"`{one.anchor}`"),
            *(f"{one.total:,}", *each_seed(ends)),
        )
        for one, ends in read(results).items()
    ]
    return grid(["peak rate", "warm-up", "reading", "sum of rates, in peak rates", "loss of each seed", "BLEU"], rows)
