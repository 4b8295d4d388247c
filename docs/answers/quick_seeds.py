"""Do two claims hold in `quick` with three seeds? (C11, C12)"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from docs.answers.bounds import C11_BEHIND, C11_GAIN, C12_AHEAD, C12_GAIN
from docs.answers.small_causes import STUDY
from docs.committed import Ends, by_settings, differences, have_all_seeds, translations
from docs.markdown import answered, each_seed, rate, warm_up
from preln.config import RunSettings
from preln.report.claims.rules import Finding, verdict
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import estimate

GUESS = 8.26
"""The loss of the constant guess on the text of `quick`."""


@dataclass(frozen=True)
class OfPost:
    """What the runs of Post-LN on the text of `quick` differ in, but for the seed."""

    optimizer: str
    schedule: str
    warmup: int
    learning_rate: float
    epochs: int = 3


SGD, SGD_WARMED_UP = (OfPost("sgd", "inverse-sqrt", warmup, 1.0) for warmup in (0, 400))
ADAM, ADAM_WARMED_UP = (OfPost("adam", "inverse-sqrt", warmup, 2e-3) for warmup in (0, 400))
FIXED = OfPost("adam", "constant", 0, 5e-4)
COMPARED = [SGD, SGD_WARMED_UP, ADAM, ADAM_WARMED_UP, FIXED]
"""What the two claims compare."""
LONGER, LONGER_WARMED_UP = (replace(one, epochs=6) for one in (SGD, SGD_WARMED_UP))


def answer(found: Mapping[OfPost, Ends]) -> list[str]:
    """The verdicts of the ledger's rules on the two claims; nothing before each run that they compare has three
    seeds."""
    if not have_all_seeds(*(found.get(one, Ends()).losses for one in COMPARED)):
        return []
    sgd, sgd_warmed_up, adam, adam_warmed_up, fixed = (found[one] for one in COMPARED)
    asked = {
        "C11": [
            (differences(sgd, sgd_warmed_up), C11_BEHIND),
            (differences(sgd_warmed_up, adam_warmed_up), C11_BEHIND),
            (_gains(sgd_warmed_up), C11_GAIN),
        ],
        "C12": [
            (differences(adam, fixed), C12_AHEAD),
            (_gains(fixed), C12_GAIN),
            (differences(fixed, adam_warmed_up), 0.0),
        ],
    }
    return [
        f"{claim} is {verdict([Finding('', estimate(values), least, math.inf) for values, least in comparisons])}"
        for claim, comparisons in asked.items()
    ]


def of_longer(found: Mapping[OfPost, Ends]) -> list[str]:
    """Whether SGD only lacked updates, by its runs for twice as long; nothing before each has three seeds."""
    without, warmed_up = (found.get(one, Ends()) for one in (LONGER, LONGER_WARMED_UP))
    if not have_all_seeds(without.losses, warmed_up.losses):
        return []
    lacked = min(_gains(warmed_up)) >= C11_GAIN and min(differences(without, warmed_up)) >= C11_BEHIND
    return ["SGD lacked updates" if lacked else "that SGD lacked updates is not shown"]


def _gains(ends: Ends) -> list[float]:
    """How far each seed is below the constant guess."""
    return [GUESS - loss for loss in ends.losses]


def read(results: Path) -> dict[OfPost, Ends]:
    """Each seed of the runs of Post-LN in `small-causes` on the text of `quick` that are done."""

    def one(its: RunSettings) -> OfPost | None:
        if (its.corpus, its.placement) != ("quick", "post"):
            return None
        return OfPost(its.optimizer, its.schedule, its.warmup, its.learning_rate, its.epochs)

    return by_settings(translations(results, STUDY), one)


def table(results: Path) -> str:
    """What the two claims compare, with SGD for longer, and the answers."""
    found = read(results)
    rows = [
        (
            OPTIMIZERS[one.optimizer],
            f"{rate(one.learning_rate)}{', fixed' if one == FIXED else ''}",
            warm_up(one.warmup),
            str(one.epochs),
            *each_seed(found[one]),
        )
        for one in [*COMPARED, LONGER, LONGER_WARMED_UP]
        if one in found
    ]
    head = ["", "peak rate", "warm-up", "epochs", "loss of each seed", "BLEU"]
    return answered(head, rows, [*answer(found), *of_longer(found)])
