"""Does the control train to the end? (C9)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import LONG_WARMUP, PAPERS_RATE, fails, of_half_the_width
from docs.committed import Ends, by_settings, have_all_seeds
from docs.markdown import answered, each_seed, warm_up
from preln.config import RunSettings
from preln.report.core.statistics import mean


@dataclass(frozen=True)
class Control:
    """Post-LN or its control, Post-LN-init."""

    placement: str
    warmup: int


def answer(control: Sequence[float], warmed_up: Sequence[float]) -> list[str]:
    """What becomes of Post-LN-init without a warm-up, beside Post-LN with one. Nothing is said before both have three
    seeds."""
    if not have_all_seeds(control, warmed_up):
        return []
    if fails(mean(control)):
        return ["the control fails"]
    return ["the control trains" if mean(control) <= mean(warmed_up) + 0.5 else "the control trains less well"]


def read(results: Path) -> dict[Control, Ends]:
    """The ends of each seed of Post-LN and Post-LN-init at 5e-4 with a held peak, with the long warm-up and without.
    All have as many updates."""

    def one(its: RunSettings) -> Control | None:
        is_asked = (
            (its.optimizer, its.learning_rate, its.schedule, its.accumulate) == ("adam", PAPERS_RATE, "inverse-sqrt", 1)
            and its.placement in ("post", "post-init")
            and its.warmup in (0, LONG_WARMUP)
            and its.anchor == "hold"
        )
        return Control(its.placement, its.warmup) if is_asked else None

    return by_settings(of_half_the_width(results), one)


def table(results: Path) -> str:
    """Post-LN and Post-LN-init trained to the end, and the answer where all seeds of the control are done."""
    found = read(results)
    told = {
        Control("post", 0): ("Post-LN", "none"),
        Control("post-init", 0): ("Post-LN-init", "none"),
        Control("post", LONG_WARMUP): ("Post-LN", warm_up(LONG_WARMUP)),
    }
    rows = [(*names, *each_seed(found[one])) for one, names in told.items() if one in found]
    _, of_control, warmed_up = (found.get(one, Ends()).losses for one in told)
    return answered(["", "warm-up", "loss of each seed", "BLEU"], rows, answer(of_control, warmed_up))
