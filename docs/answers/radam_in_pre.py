"""Why is RAdam ahead in Pre-LN? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import HIGHER_RATE, SCHEDULES, of_half_the_width
from docs.committed import Ends, by_settings
from docs.markdown import answered, each_seed, warm_up
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS

AS_GOOD = 0.15
"""By how many bits C15 lets RAdam and Adam differ in Pre-LN."""


@dataclass(frozen=True)
class InPre:
    """An optimizer, its schedule and its warm-up, in Pre-LN."""

    optimizer: str
    schedule: str
    warmup: int


RADAM = InPre("radam", "linear", 0)
WITH_ITS_SCHEDULE = InPre("adam", "linear", 0)
WITH_A_WARMUP = InPre("adam", "linear", 100)
WITH_ITS_OWN_SCHEDULE = InPre("adam", "constant", 0)


def answer(losses: Mapping[InPre, Sequence[float]]) -> list[str]:
    """Whether the schedule, or RAdam's own warm-up, is why RAdam is ahead in Pre-LN, by the losses of seed 1. Nothing
    is said of a run that is not made."""
    found = []
    for what, adam in {"the schedule": WITH_ITS_SCHEDULE, "RAdam's own warm-up": WITH_A_WARMUP}.items():
        if losses.get(adam) and losses.get(RADAM):
            is_cause = abs(losses[adam][0] - losses[RADAM][0]) <= AS_GOOD
            found.append(f"{what} is {'the' if is_cause else 'no'} cause")
    return found


def read(results: Path) -> dict[InPre, Ends]:
    """The ends of each seed of Pre-LN at 1e-3 after three epochs."""

    def one(its: RunSettings) -> InPre | None:
        is_asked = (its.placement, its.learning_rate, its.epochs) == ("pre", HIGHER_RATE, 3)
        return InPre(its.optimizer, its.schedule, its.warmup) if is_asked else None

    return by_settings(of_half_the_width(results), one)


def table(results: Path) -> str:
    """Pre-LN at 1e-3 with RAdam, and with Adam in three ways, and the answers whose runs are done."""
    found = read(results)
    rows = [
        (
            *(OPTIMIZERS[one.optimizer], SCHEDULES[one.schedule]),
            "its own" if one == RADAM else warm_up(one.warmup),
            *each_seed(found[one]),
        )
        for one in (RADAM, WITH_ITS_SCHEDULE, WITH_A_WARMUP, WITH_ITS_OWN_SCHEDULE)
        if one in found
    ]
    losses = {one: ends.losses for one, ends in found.items()}
    return answered(["", "schedule", "warm-up", "loss", "BLEU"], rows, answer(losses))
