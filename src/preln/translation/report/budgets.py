"""Budgets of rate: what a training with a warm-up had when it had spent the same sum of learning rates.

"No warm-up" with a decay that begins at once is also a much smaller sum of rates than a run with the warm-up has. To
see what that alone would do, the loss or BLEU of a run with a warm-up is read off where it has spent the sum that the
other run spends in all. This is a heuristic: it takes progress to depend on the sum of the rates alone. It knows
nothing of failure, and it gives too little of a run with small rates at its end, which lower the loss by more than
their sum says.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import get_args

from preln.config import RunSettings
from preln.report.reference import translation as paper
from preln.report.reference.translation import Quantity
from preln.schedules import of as schedule_of
from preln.schedules.base import Schedule
from preln.schedules.constant import Constant
from preln.schedules.inverse_sqrt import Anchor, InverseSqrt

WARMED_UP = InverseSqrt(learning_rate=5e-4, warmup=4000, anchor="warmup", decay_period=4000)
"""The schedule of the paper's Post-LN with a warm-up in figure 4(a, b), whose curve is read."""
SERIES = "Post-LN Adam w/ warm-up"


def sum_of_rates(schedule: Schedule, updates: int) -> float:
    """The sum of the rates of the first `updates` updates."""
    return math.fsum(map(schedule.rate, range(1, updates + 1)))


@cache
def spent_by(schedule: Schedule, ends: tuple[int, ...], drop_update: int | None = None) -> tuple[float, ...]:
    """The sum of the rates up to each of some updates, which ascend; `drop_update` is the schedule's."""
    parts = [
        math.fsum(schedule.rate(update, drop_update) for update in range(first + 1, last + 1))
        for first, last in pairwise((0, *ends))
    ]
    return tuple(math.fsum(parts[: number + 1]) for number in range(len(parts)))


def spent(settings: RunSettings, updates: Sequence[int]) -> tuple[float, ...]:
    """The sum of a run's rates at the end of each of its epochs; `updates` are the updates up to there."""
    ends = tuple(int(end) for end in updates)
    drop = settings.drop_epoch
    drop_update = ends[drop - 1] if drop is not None and drop <= len(ends) else None
    return spent_by(schedule_of(settings), ends, drop_update)


def read_at(places: Sequence[float], values: Sequence[float], place: float) -> float:
    """A curve's value at a place, on a straight line between two of its points, whose places ascend; for example at a
    sum of rates that is spent. NaN before the first point; behind the last point, the last value."""
    if not places or place < places[0]:
        return math.nan
    if place >= places[-1]:
        return values[-1]
    after = bisect_left(places, place, lo=1)
    share = (place - places[after - 1]) / (places[after] - places[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])


@dataclass(frozen=True)
class Reading:
    """A number of the paper, and what its curve with the warm-up has where it has spent as much.

    Attributes:
        schedule: of the run that the number is of, as far as the paper says; it leaves open the rate of 8.45, and where
            the decay begins with a warm-up that is shorter than 4,000 updates.
        quantity: what is read.
        paper: the paper's number.
        budget: the run's sum of rates.
        epoch: where the curve with the warm-up has spent as much, to an update; its last where it spends less in all.
        value: what it has there, on a straight line over the epochs between two checkpoints.
        low, high: the same over the updates that an epoch may have had, and over the curve's reading error.
        at_the_end: whether the run spends no less than the whole curve.
    """

    schedule: Schedule
    quantity: Quantity
    paper: float
    budget: float
    epoch: float
    value: float
    low: float
    high: float
    at_the_end: bool


def of_the_paper() -> Iterator[Reading]:
    """Every number that the paper's text gives of a Post-LN run by Adam without the full warm-up, in every reading."""
    numbers = {
        (number.warmup, number.learning_rate): number.y
        for number in paper.load()
        if number.figure == 2 and number.optimizer == "adam"
    }
    for warmup, rates in ((0, (5e-4, 1e-3)), (500, (5e-4, 1e-3))):
        for rate in rates:
            number = numbers.get((warmup, rate), numbers.get((warmup, None)))
            for anchor in get_args(Anchor):
                if number is not None and anchor != "shift":
                    yield _reading(InverseSqrt(rate, warmup, anchor, WARMED_UP.warmup), 15, "bleu", number)
    for entry in paper.load():
        if entry.figure == 6 and entry.y is not None and entry.learning_rate is not None:
            yield _reading(Constant(entry.learning_rate, 0, None, 1.0), int(entry.x), "valid_loss", entry.y)


def curve_of(quantity: Quantity) -> list[paper.Reference]:
    """The points of the paper's curve with the warm-up."""
    return [
        point for point in paper.load() if (point.series, point.quantity) == (SERIES, quantity) and not point.statement
    ]


def _reading(schedule: Schedule, epochs: int, quantity: Quantity, number: float) -> Reading:
    """The paper's curve with the warm-up, read where it has spent as much as a run with this schedule."""
    points = [(point.x, point.y, point.error or 0.0) for point in curve_of(quantity) if point.y is not None]
    possible = []
    for updates in (paper.UPDATES_AN_EPOCH, *paper.UPDATES_AN_EPOCH_WITHIN):
        budget = sum_of_rates(schedule, epochs * updates)
        last = round(points[-1][0] * updates)
        reached = bisect_left(list(accumulate(map(WARMED_UP.rate, range(1, last + 1)))), budget) + 1
        epoch = min(reached, last) / updates
        for sign in (0, -1, 1):
            value = read_at([x for x, _, _ in points], [y + sign * error for _, y, error in points], epoch)
            possible.append((value, budget, epoch, reached > last))
    (value, budget, epoch, at_the_end), *_ = possible
    low, high = (extreme(value for value, *_ in possible) for extreme in (min, max))
    return Reading(schedule, quantity, number, budget, epoch, value, low, high, at_the_end)
