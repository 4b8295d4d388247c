"""Is it the placement or the schedule? (C13, C14)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import LONG_WARMUP, PAPERS_RATE, SCHEDULES, of_half_the_width
from docs.committed import Ends, by_settings, have_all_seeds, losses_of
from docs.markdown import answered, each_seed, warm_up
from preln.config import RunSettings
from preln.placements import PLACEMENTS
from preln.report.core.statistics import mean


@dataclass(frozen=True)
class Swapped:
    """A placement with one of the two schedules."""

    placement: str
    schedule: str


PRES_OWN = Swapped("pre", "constant")
"""The only one without a warm-up."""


@dataclass(frozen=True)
class UnderSchedules:
    """The mean losses of a placement: with an inverse square root, and with a constant rate that drops."""

    inverse_sqrt: float
    constant: float


def answer(pre: UnderSchedules, post: UnderSchedules) -> list[str]:
    """What decides."""
    of_schedule = max(abs(one.inverse_sqrt - one.constant) for one in (pre, post))
    ahead = (post.inverse_sqrt - pre.inverse_sqrt, post.constant - pre.constant)
    if all(difference > of_schedule for difference in ahead):
        return ["the placement"]
    if all(abs(difference) < of_schedule for difference in ahead):
        return ["the schedule"]
    return ["both"]


def read(results: Path) -> dict[Swapped, Ends]:
    """The ends of each seed of Adam at 5e-4, by placement and schedule. `iwslt14-50k-cpu` has each placement's own, and
    `confounds` the other's. Only Pre-LN's own has no warm-up."""

    def one(its: RunSettings) -> Swapped | None:
        found = Swapped(its.placement, its.schedule)
        asked = ("adam", PAPERS_RATE, 0 if found == PRES_OWN else LONG_WARMUP, 1)
        return found if (its.optimizer, its.learning_rate, its.warmup, its.accumulate) == asked else None

    return by_settings(of_half_the_width(results), one)


def under_schedules(found: Mapping[Swapped, Ends], placement: str) -> UnderSchedules:
    """The mean losses of a placement over the seeds that are done."""
    inverse_sqrt, constant = (mean(found[Swapped(placement, one)].losses) for one in ("inverse-sqrt", "constant"))
    return UnderSchedules(inverse_sqrt, constant)


def table(results: Path) -> str:
    """Each placement with its own schedule and with the other's, and the answer where all seeds are done."""
    found = read(results)
    rows = [
        (
            *(PLACEMENTS[placement].label, SCHEDULES[schedule]),
            warm_up(0 if one == PRES_OWN else LONG_WARMUP),
            *each_seed(found[one]),
        )
        for placement in ("post", "pre")
        for schedule in ("inverse-sqrt", "constant")
        if (one := Swapped(placement, schedule)) in found
    ]
    said = []
    if len(found) == 4 and have_all_seeds(*losses_of(found).values()):
        pre, post = (under_schedules(found, placement) for placement in ("pre", "post"))
        said = answer(pre, post)
    return answered(["", "schedule", "warm-up", "loss of each seed", "BLEU"], rows, said)
