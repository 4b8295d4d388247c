"""Why is RAdam ahead in Pre-LN? (C15)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from docs.answers.iwslt14 import HIGHER_RATE, PAPERS_RATE, SCHEDULES, of_half_the_width
from docs.committed import Ends, after_epoch, by_settings, last_of
from docs.markdown import answered, each_seed, losses, rate, warm_up
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import mean

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
STOPS_BEFORE_THE_DROP = replace(WITH_ITS_SCHEDULE, learning_rate=PAPERS_RATE)
"""Adam with RAdam's schedule at the paper's rate."""
BEFORE_THE_DROP = 2
"""The epoch after which Adam's own schedule drops."""


def answer(ends: Mapping[InPre, Sequence[float]]) -> list[str]:
    """Whether the schedule, or RAdam's own warm-up, is why RAdam is ahead in Pre-LN, by the losses of seed 1. Nothing
    is said of a run that is not made."""
    found = []
    for what, adam in {"the schedule": WITH_ITS_SCHEDULE, "RAdam's own warm-up": WITH_A_WARMUP}.items():
        if ends.get(adam) and ends.get(RADAM):
            is_cause = abs(ends[adam][0] - ends[RADAM][0]) <= AS_GOOD
            found.append(f"{what} is {'the' if is_cause else 'no'} cause")
    return found


def answer_at_the_papers(before: Mapping[InPre, Sequence[float]]) -> list[str]:
    """Whether the schedule is why RAdam is behind at the paper's rate, by the means of the seeds that two runs both
    have before the drop. Nothing is said where RAdam is not behind, or before a run is made."""

    def behind(adam: InPre) -> float:
        return mean([a - b for a, b in zip(before[RADAM_AT_THE_PAPERS], before[adam], strict=False)])

    if STOPS_BEFORE_THE_DROP not in before or behind(ADAM_AT_THE_PAPERS) <= AS_GOOD:
        return []
    is_cause = abs(behind(STOPS_BEFORE_THE_DROP)) <= AS_GOOD
    return [f"the schedule is {'the' if is_cause else 'no'} cause at 5e-4"]


def read(results: Path, what: Callable[[Path], dict[str, float]] = last_of) -> dict[InPre, Ends]:
    """Each seed of Pre-LN at its end, or what else is read of it: at 1e-3, and at 5e-4 what C15 compares, with the run
    that stops before the drop."""

    def one(its: RunSettings) -> InPre | None:
        found = InPre(its.optimizer, its.schedule, its.warmup, its.learning_rate)
        stops = found == STOPS_BEFORE_THE_DROP
        is_asked = stops or its.learning_rate == HIGHER_RATE or found in AT_THE_PAPERS
        return found if (its.placement, its.epochs) == ("pre", BEFORE_THE_DROP if stops else 3) and is_asked else None

    return by_settings(of_half_the_width(results, what), one)


def before_the_drop(folder: Path) -> dict[str, float]:
    """A run's numbers before Adam's own schedule drops."""
    return after_epoch(folder, BEFORE_THE_DROP)


def table(results: Path) -> str:
    """Pre-LN with RAdam and with Adam, in three ways at 1e-3 and two at 5e-4, and the answers whose runs are done."""
    found, before = read(results), read(results, before_the_drop)
    rows = [
        (
            *(OPTIMIZERS[one.optimizer], rate(one.learning_rate), SCHEDULES[one.schedule]),
            "its own" if one.optimizer == "radam" else warm_up(one.warmup),
            losses(before[one].losses),
            *(("", "") if one == STOPS_BEFORE_THE_DROP else each_seed(found[one])),
        )
        for one in (
            *(RADAM, WITH_ITS_SCHEDULE, WITH_A_WARMUP, WITH_ITS_OWN_SCHEDULE),
            *(RADAM_AT_THE_PAPERS, STOPS_BEFORE_THE_DROP, ADAM_AT_THE_PAPERS),
        )
        if one in found
    ]
    said = [
        *answer({one: ends.losses for one, ends in found.items()}),
        *answer_at_the_papers({one: ends.losses for one, ends in before.items()}),
    ]
    return answered(["", "peak rate", "schedule", "warm-up", "loss after two epochs", "loss", "BLEU"], rows, said)
