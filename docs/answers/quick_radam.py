"""Why is RAdam behind Adam in the Pre-LN of `quick`? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.bounds import C15_IN_PRE
from docs.answers.small_causes import STUDY
from docs.committed import Ends, by_settings, have_all_seeds, losses_of, translations
from docs.markdown import answered, each_seed
from preln.config import RunSettings
from preln.report.core.statistics import mean


@dataclass(frozen=True)
class OfQuick:
    """What the runs on the text of `quick` differ in, but for the seed."""

    optimizer: str
    schedule: str


ADAM, RADAM, SWAPPED = OfQuick("adam", "constant"), OfQuick("radam", "linear"), OfQuick("adam", "linear")
NAMES = {
    ADAM: ("Adam", "constant, ×0.1 after epoch 2"),
    RADAM: ("RAdam", "linear to 0"),
    SWAPPED: ("Adam", "linear to 0"),
}


def answer(losses: Mapping[OfQuick, Sequence[float]]) -> list[str]:
    """What the losses of the seeds say; nothing before each run has three."""
    if not have_all_seeds(*(losses.get(one, ()) for one in NAMES)):
        return []
    adam, radam, swapped = (mean(losses[one]) for one in (ADAM, RADAM, SWAPPED))
    if abs(radam - adam) <= C15_IN_PRE:
        return ["chance is the cause"]
    if abs(swapped - radam) <= C15_IN_PRE:
        return ["the schedule is the cause"]
    share = (swapped - adam) / (radam - adam)
    return [f"the schedule is {'a cause in part' if share >= 0.5 else 'no cause'}"]


def read(results: Path) -> dict[OfQuick, Ends]:
    """Each seed of the runs of Pre-LN in `small-causes` on the text of `quick` that are done."""

    def one(its: RunSettings) -> OfQuick | None:
        is_of_quick = (its.corpus, its.placement) == ("quick", "pre")
        return OfQuick(its.optimizer, its.schedule) if is_of_quick else None

    return by_settings(translations(results, STUDY), one)


def table(results: Path) -> str:
    """The three runs of Pre-LN, and the answer."""
    found = read(results)
    rows = [(*name, *each_seed(found[one])) for one, name in NAMES.items() if one in found]
    return answered(["", "schedule", "loss of each seed", "BLEU"], rows, answer(losses_of(found)))
