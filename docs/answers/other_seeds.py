"""Do two claims hold in `quick` with other seeds too? (C11, C12)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from docs.answers.small_causes import STUDY
from docs.committed import Ends, by_settings, claims, have_all_seeds, translations
from docs.markdown import answered, each_seed, rate, warm_up
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS

CLAIMS = ("C11", "C12")


@dataclass(frozen=True)
class OfPost:
    """What the runs of Post-LN on the text of `quick` differ in, but for the seed."""

    optimizer: str
    schedule: str
    warmup: int
    learning_rate: float


SGD = [OfPost("sgd", "inverse-sqrt", warmup, 1.0) for warmup in (0, 400)]
ADAM = [OfPost("adam", "inverse-sqrt", warmup, 2e-3) for warmup in (0, 400)]
FIXED = OfPost("adam", "constant", 0, 5e-4)
RUNS = [*SGD, *ADAM, FIXED]


def read(results: Path) -> dict[OfPost, Ends]:
    """Each seed of the runs of Post-LN in `small-causes` on the text of `quick` that are done."""

    def one(its: RunSettings) -> OfPost | None:
        if (its.corpus, its.placement) != ("quick", "post"):
            return None
        return OfPost(its.optimizer, its.schedule, its.warmup, its.learning_rate)

    return by_settings(translations(results, STUDY), one)


def table(results: Path) -> str:
    """What the two claims compare, and the verdicts of the committed ledger, where each run has three seeds."""
    found = read(results)
    rows = [
        (
            OPTIMIZERS[one.optimizer],
            f"{rate(one.learning_rate)}{', fixed' if one == FIXED else ''}",
            warm_up(one.warmup),
            *each_seed(found[one]),
        )
        for one in RUNS
        if one in found
    ]
    are_made = have_all_seeds(*(found.get(one, Ends()).losses for one in RUNS))
    said = [f"{claim} is {claims(STUDY)['verdict'][claim]}" for claim in CLAIMS] if are_made else []
    return answered(["", "peak rate", "warm-up", "loss of each seed", "BLEU"], rows, said)
