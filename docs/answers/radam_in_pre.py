"""Why is RAdam ahead in Pre-LN? (C15)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import SCHEDULES, of_half_the_width
from docs.committed import Ends, by_settings
from docs.markdown import answered, each_seed
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS

AS_GOOD = 0.15
"""By how many bits C15 lets RAdam and Adam differ in Pre-LN."""


@dataclass(frozen=True)
class InPre:
    """An optimizer and its schedule, in Pre-LN."""

    optimizer: str
    schedule: str


def answer(adam: float, radam: float) -> list[str]:
    """Whether the schedule is why RAdam is ahead in Pre-LN, by the losses of both with RAdam's."""
    return [f"the schedule is {'the' if abs(adam - radam) <= AS_GOOD else 'no'} cause"]


def read(results: Path) -> dict[InPre, Ends]:
    """The ends of each seed of Pre-LN at 1e-3 after three epochs."""

    def one(its: RunSettings) -> InPre | None:
        is_asked = (its.placement, its.learning_rate, its.epochs) == ("pre", 1e-3, 3)
        return InPre(its.optimizer, its.schedule) if is_asked else None

    return by_settings(of_half_the_width(results), one)


def table(results: Path) -> str:
    """Pre-LN at 1e-3 with RAdam and with Adam, the latter with two schedules, and the answer where all are done."""
    found = read(results)
    shown = [InPre("radam", "linear"), InPre("adam", "linear"), InPre("adam", "constant")]
    rows = [
        (OPTIMIZERS[one.optimizer], SCHEDULES[one.schedule], *each_seed(found[one])) for one in shown if one in found
    ]
    radam, adam, _ = (found.get(one, Ends()).losses for one in shown)
    said = answer(adam[0], radam[0]) if adam and radam else []
    return answered(["", "schedule", "loss", "BLEU"], rows, said)
