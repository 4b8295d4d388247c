"""Why does RAdam close none of the gap in `iwslt14-cpu`? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.bounds import C15_SHARE
from docs.committed import Ends, by_settings, losses_of, translations
from docs.markdown import answered, each_seed, warm_up
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import mean, share_of_way

STUDY = "iwslt14-cpu"
PEAK = 2e-3


@dataclass(frozen=True)
class OfPost:
    """What the runs of Post-LN at this peak rate differ in."""

    optimizer: str
    anchor: str
    warmup: int
    beta2: float = 0.98


DECAYING, WARMED_UP = OfPost("adam", "warmup", 0), OfPost("adam", "hold", 600)
RADAM, WITH_LONG_BETA2 = OfPost("radam", "warmup", 0), OfPost("radam", "warmup", 0, 0.999)
NAMES = {
    DECAYING: "inverse square root, from the first update on",
    RADAM: "linear to 0",
    WITH_LONG_BETA2: "linear to 0",
    WARMED_UP: "inverse square root",
}


def answer(losses: Mapping[OfPost, Sequence[float]]) -> list[str]:
    """Whether RAdam with the other β2 closes enough of the gap; nothing before the runs that the rule reads are
    made."""
    wanted = (WITH_LONG_BETA2, DECAYING, WARMED_UP)
    if not all(losses.get(one) for one in wanted):
        return []
    closes = share_of_way(*(-mean(losses[one]) for one in wanted)) >= C15_SHARE
    return [f"β2 is {'the' if closes else 'no'} cause"]


def read(results: Path) -> dict[OfPost, Ends]:
    """The runs of Post-LN in `iwslt14-cpu` that are done, by Adam or RAdam at this peak rate."""

    def one(its: RunSettings) -> OfPost | None:
        if (its.placement, its.learning_rate) != ("post", PEAK):
            return None
        return OfPost(its.optimizer, its.anchor, its.warmup, its.beta2)

    return by_settings(translations(results, STUDY), one)


def table(results: Path) -> str:
    """The two runs of RAdam between the two of Adam, and the answer."""
    found = read(results)
    rows = [
        (OPTIMIZERS[one.optimizer], f"{one.beta2:g}", name, warm_up(one.warmup), *each_seed(found[one]))
        for one, name in NAMES.items()
        if one in found
    ]
    head = ["", "β2", "schedule", "warm-up", "loss", "BLEU"]
    return answered(head, rows, answer(losses_of(found)))
