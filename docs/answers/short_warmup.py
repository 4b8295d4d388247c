"""Is a short warm-up enough at the lower rate? (C10)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.iwslt14 import LONG_WARMUP, PAPERS_RATE
from docs.committed import Ends, by_settings, first_where, have_all_seeds, losses_of, translations
from docs.markdown import answered, each_seed, tokens, warm_up
from preln.config import RunSettings
from preln.report.core.statistics import mean

SHORT_WARMUP = 167
"""The updates of the short warm-up in `confounds`."""
COMMON_UPDATES = 1551
"""The updates after which its runs are compared: with four batches in an update it is one more."""


@dataclass(frozen=True)
class Warmup:
    """A length of Adam's warm-up, and how many batches an update has."""

    updates: int
    batches: int


SHORT, SHORT_LARGER, LONG_LARGER = Warmup(SHORT_WARMUP, 1), Warmup(SHORT_WARMUP, 4), Warmup(LONG_WARMUP, 4)


def answer(losses: Mapping[Warmup, Sequence[float]]) -> list[str]:
    """What the short warm-up says, by the losses of the seeds of each: up to two answers.

    Nothing is said of what lacks a run: three seeds of a short warm-up, and one of the long one.
    """
    ours, larger, long = (losses.get(one, ()) for one in (SHORT, SHORT_LARGER, LONG_LARGER))
    found = []
    if have_all_seeds(ours, larger):
        found.append("the batch is a cause" if mean(ours) - mean(larger) >= 1 else "the batch is no cause")
    if have_all_seeds(larger) and long:
        holds = mean(larger) - mean(long) <= 0.5
        found.append(f"with 4 x 1,024 tokens the claim {'holds' if holds else 'does not hold either'}")
    return found


def read(results: Path) -> dict[Warmup, Ends]:
    """Each seed of the runs of `confounds` that the short warm-up is judged by, after the updates that they have in
    common."""

    def after_common(folder: Path) -> dict[str, float]:
        # A run that diverged before has no such epoch.
        reached = first_where(folder / "curve.csv", "updates", COMMON_UPDATES, within=1)
        return reached or {"valid_loss": math.inf, "test_bleu": 0.0}

    def one(its: RunSettings) -> Warmup | None:
        asked = ("post", "adam", "inverse-sqrt", PAPERS_RATE)
        is_asked = (its.placement, its.optimizer, its.schedule, its.learning_rate) == asked
        warmup = Warmup(its.warmup, its.accumulate)
        return warmup if is_asked and warmup in (SHORT, SHORT_LARGER, LONG_LARGER) else None

    return by_settings(translations(results, "confounds", after_common), one)


def table(results: Path) -> str:
    """The runs of `confounds` that Adam's short warm-up is judged by, and the answers whose runs are done."""
    found = read(results)
    rows = [
        (tokens(one.batches), warm_up(one.updates), *each_seed(found[one]))
        for one in (SHORT, SHORT_LARGER, LONG_LARGER)
        if one in found
    ]
    head = ["tokens an update", "warm-up", f"loss after {COMMON_UPDATES:,} updates, of each seed", "BLEU"]
    return answered(head, rows, answer(losses_of(found)))
