"""Why does RAdam differ from Adam in Pre-LN? (C15)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from docs.answers.bounds import C15_IN_PRE
from docs.answers.iwslt14 import HIGHER_RATE, PAPERS_RATE, SCHEDULES, of_half_the_width
from docs.committed import Ends, Reader, after_epoch, by_settings, differences, last_of
from docs.markdown import answered, each_seed, losses, rate, warm_up
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import mean


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
WITH_ITS_SCHEDULE_AT_THE_PAPERS = replace(WITH_ITS_SCHEDULE, learning_rate=PAPERS_RATE)
"""It is trained as far as it is compared: to where Adam's own schedule drops."""
BEFORE_THE_DROP = 2
"""The epoch after which Adam's own schedule drops."""


def answer(ends: Mapping[InPre, Ends]) -> list[str]:
    """Whether the schedule, or RAdam's own warm-up, is why RAdam is ahead in Pre-LN at the higher rate, by the means of
    the seeds that two runs both have. Nothing is said of a run that is not made."""
    found = []
    for what, adam in {"the schedule": WITH_ITS_SCHEDULE, "RAdam's own warm-up": WITH_A_WARMUP}.items():
        if apart := _apart(ends, adam, RADAM):
            is_cause = abs(mean(apart)) <= C15_IN_PRE
            found.append(f"at {rate(HIGHER_RATE)}, {what} is {'the' if is_cause else 'no'} cause")
    return found


def at_the_papers_rate(before: Mapping[InPre, Ends]) -> list[str]:
    """Whether the schedule is why RAdam and Adam differ at the paper's rate, by the means of the seeds that two runs
    both have before the drop. Nothing is said where they do not differ, or before a run is made."""
    own, swapped = (
        _apart(before, RADAM_AT_THE_PAPERS, adam) for adam in (ADAM_AT_THE_PAPERS, WITH_ITS_SCHEDULE_AT_THE_PAPERS)
    )
    if not (own and swapped) or abs(mean(own)) <= C15_IN_PRE:
        return []
    is_cause = abs(mean(swapped)) <= C15_IN_PRE
    return [f"at {rate(PAPERS_RATE)}, the schedule is {'the' if is_cause else 'no'} cause"]


def _apart(ends: Mapping[InPre, Ends], one: InPre, other: InPre) -> list[float]:
    return differences(ends.get(one, Ends()), ends.get(other, Ends()))


def read(results: Path, reader: Reader = last_of) -> dict[InPre, Ends]:
    """Each seed of Pre-LN at its end, or where else it is read: at 1e-3, and at 5e-4 what C15 compares, with the run
    that stops before the drop."""

    def one(its: RunSettings) -> InPre | None:
        found = InPre(its.optimizer, its.schedule, its.warmup, its.learning_rate)
        stops = found == WITH_ITS_SCHEDULE_AT_THE_PAPERS
        is_asked = stops or its.learning_rate == HIGHER_RATE or found in AT_THE_PAPERS
        return found if (its.placement, its.epochs) == ("pre", BEFORE_THE_DROP if stops else 3) and is_asked else None

    return by_settings(of_half_the_width(results, reader), one)


def table(results: Path) -> str:
    """Pre-LN with RAdam and with Adam, in three ways at 1e-3 and two at 5e-4, and the answers whose runs are done."""
    found, before = read(results), read(results, after_epoch(BEFORE_THE_DROP))
    rows = [
        (
            *(OPTIMIZERS[one.optimizer], rate(one.learning_rate), SCHEDULES[one.schedule]),
            "its own" if one.optimizer == "radam" else warm_up(one.warmup),
            losses(before[one].losses),
            *(("", "") if one == WITH_ITS_SCHEDULE_AT_THE_PAPERS else each_seed(found[one])),
        )
        for one in (
            *(RADAM, WITH_ITS_SCHEDULE, WITH_A_WARMUP, WITH_ITS_OWN_SCHEDULE),
            *(RADAM_AT_THE_PAPERS, WITH_ITS_SCHEDULE_AT_THE_PAPERS, ADAM_AT_THE_PAPERS),
        )
        if one in found
    ]
    head = ["", "peak rate", "schedule", "warm-up", "loss after two epochs", "loss", "BLEU"]
    return answered(head, rows, [*answer(found), *at_the_papers_rate(before)])
