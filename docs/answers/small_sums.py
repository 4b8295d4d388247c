"""Is the loss of "no warm-up" a failure, or a small sum of rates? (C9, C10)"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import UPDATES
from docs.committed import Ends, by_settings, translations
from docs.markdown import answered, each_seed, rate, warm_up
from preln.config import RunSettings
from preln.schedules import of as schedule_of
from preln.translation.report.budgets import sum_of_rates


@dataclass(frozen=True)
class SmallSum:
    """A run of `confounds` whose rate decays from the end of its warm-up on, or from the first update."""

    learning_rate: float
    warmup: int
    total: float
    """The sum of its rates."""


def answer(without: float, with_as_large_a_sum: float) -> list[str]:
    """What a run without a warm-up says, beside one with a warm-up whose rates sum to as much."""
    if abs(without - with_as_large_a_sum) <= 0.3:
        return ["the sum of the rates explains the loss"]
    if without > with_as_large_a_sum:
        return ["the missing warm-up does harm of its own"]
    return ["a large rate at the beginning helps"]


def read(results: Path) -> dict[SmallSum, Ends]:
    """The ends of the runs that are done, by their sums; of one sum, that without a warm-up is first."""

    def small_sum(its: RunSettings) -> SmallSum | None:
        asked = ("post", "adam", "inverse-sqrt", "warmup", 1)
        if (its.placement, its.optimizer, its.schedule, its.anchor, its.accumulate) != asked:
            return None
        return SmallSum(its.learning_rate, its.warmup, float(f"{sum_of_rates(schedule_of(its), UPDATES):.3g}"))

    found = by_settings(translations(results, "confounds"), small_sum)
    return dict(sorted(found.items(), key=lambda one: (one[0].total, one[0].warmup)))


def table(results: Path) -> str:
    """The runs of `confounds` with small sums of rates, and the answer for each sum that has both of its runs."""
    found = read(results)
    rows = [(f"{one.total:g}", rate(one.learning_rate), warm_up(one.warmup), *each_seed(found[one])) for one in found]
    said = []
    for without, warmed_up in itertools.combinations(found, 2):
        if without.total == warmed_up.total and not without.warmup:
            ends = (found[one].losses[0] for one in (without, warmed_up))
            said += [f"at {rate(without.learning_rate)}, {one}" for one in answer(*ends)]
    return answered(["sum of rates", "peak rate", "warm-up", "loss", "BLEU"], rows, said)
