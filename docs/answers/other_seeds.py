"""Do two claims hold in `quick` with other seeds too? (C11, C12)"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from docs.answers.small_causes import STUDY
from docs.committed import Ends, by_settings, claims, differences, have_all_seeds, translations
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
    epochs: int = 3


SGD = [OfPost("sgd", "inverse-sqrt", warmup, 1.0) for warmup in (0, 400)]
ADAM = [OfPost("adam", "inverse-sqrt", warmup, 2e-3) for warmup in (0, 400)]
FIXED = OfPost("adam", "constant", 0, 5e-4)
RUNS = [*SGD, *ADAM, FIXED]
"""What the claims compare."""
LONGER = [replace(one, epochs=6) for one in SGD]
GUESS = 8.26
"""The loss of the constant guess on the text of `quick`."""
LEARNED, BEHIND = 0.3, 0.2
"""The bounds of C11: how far below it SGD is with the warm-up, and how far above that without."""


def answer(without: Ends, with_it: Ends) -> list[str]:
    """Whether SGD only lacked updates, by its runs for twice as long; nothing before each has three seeds."""
    if not have_all_seeds(without.losses, with_it.losses):
        return []
    learned = max(with_it.losses) <= GUESS - LEARNED
    is_needed = min(differences(without, with_it)) >= BEHIND
    return ["SGD lacked updates" if learned and is_needed else "that SGD lacked updates is not shown"]


def read(results: Path) -> dict[OfPost, Ends]:
    """Each seed of the runs of Post-LN in `small-causes` on the text of `quick` that are done."""

    def one(its: RunSettings) -> OfPost | None:
        if (its.corpus, its.placement) != ("quick", "post"):
            return None
        return OfPost(its.optimizer, its.schedule, its.warmup, its.learning_rate, its.epochs)

    return by_settings(translations(results, STUDY), one)


def table(results: Path) -> str:
    """What the two claims compare, with the verdicts of the committed ledger, and SGD for longer; answers are told
    where each run has three seeds."""
    found = read(results)
    rows = [
        (
            OPTIMIZERS[one.optimizer],
            f"{rate(one.learning_rate)}{', fixed' if one == FIXED else ''}",
            warm_up(one.warmup),
            str(one.epochs),
            *each_seed(found[one]),
        )
        for one in [*RUNS, *LONGER]
        if one in found
    ]
    are_made = have_all_seeds(*(found.get(one, Ends()).losses for one in RUNS))
    said = [f"{claim} is {claims(STUDY)['verdict'][claim]}" for claim in CLAIMS] if are_made else []
    said += answer(*(found.get(one, Ends()) for one in LONGER))
    return answered(["", "peak rate", "warm-up", "epochs", "loss of each seed", "BLEU"], rows, said)
