"""Why is RAdam ahead in Pre-LN? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from docs.answers.iwslt14 import HIGHER_RATE, PAPERS_RATE, SCHEDULES, of_half_the_width
from docs.committed import Ends, by_settings
from docs.markdown import answered, each_seed, rate, warm_up
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS

AS_GOOD = 0.15
"""By how many bits C15 lets RAdam and Adam differ in Pre-LN."""


@dataclass(frozen=True)
class InPre:
    """An optimizer, its schedule, its warm-up and its peak rate, in Pre-LN."""

    optimizer: str
    schedule: str
    warmup: int
    learning_rate: float = HIGHER_RATE


RADAM = InPre("radam", "linear", 0)
WITH_ITS_SCHEDULE = InPre("adam", "linear", 0)
WITH_A_WARMUP = InPre("adam", "linear", 100)
WITH_ITS_OWN_SCHEDULE = InPre("adam", "constant", 0)
RADAM_AT_THE_PAPERS = replace(RADAM, learning_rate=PAPERS_RATE)
ADAM_AT_THE_PAPERS = replace(WITH_ITS_OWN_SCHEDULE, learning_rate=PAPERS_RATE)
AT_THE_PAPERS = RADAM_AT_THE_PAPERS, ADAM_AT_THE_PAPERS
"""These are for the ledger to judge."""


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
    """The ends of each seed of Pre-LN after three epochs: at 1e-3, and at 5e-4 what C15 compares."""

    def one(its: RunSettings) -> InPre | None:
        found = InPre(its.optimizer, its.schedule, its.warmup, its.learning_rate)
        is_asked = its.learning_rate == HIGHER_RATE or found in AT_THE_PAPERS
        return found if (its.placement, its.epochs) == ("pre", 3) and is_asked else None

    return by_settings(of_half_the_width(results), one)


def table(results: Path) -> str:
    """Pre-LN with RAdam and with Adam, at 1e-3 in three ways, and the answers whose runs are done."""
    found = read(results)
    rows = [
        (
            *(OPTIMIZERS[one.optimizer], rate(one.learning_rate), SCHEDULES[one.schedule]),
            "its own" if one.optimizer == "radam" else warm_up(one.warmup),
            *each_seed(found[one]),
        )
        for one in (RADAM, WITH_ITS_SCHEDULE, WITH_A_WARMUP, WITH_ITS_OWN_SCHEDULE, *AT_THE_PAPERS)
        if one in found
    ]
    losses = {one: ends.losses for one, ends in found.items()}
    return answered(["", "peak rate", "schedule", "warm-up", "loss", "BLEU"], rows, answer(losses))
