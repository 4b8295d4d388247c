"""Is a short warm-up enough at the lower rate? (C10)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.committed import LONG_WARMUP, first_where, study_of
from docs.markdown import answered, warm_up
from preln.report.core.statistics import mean
from preln.runs import expand

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
    if len(ours) == len(larger) == 3:
        found.append("the batch is a cause" if mean(ours) - mean(larger) >= 1 else "the batch is no cause")
    if len(larger) == 3 and long:
        holds = mean(larger) - mean(long) <= 0.5
        found.append(f"with 4 x 1,024 tokens the claim {'holds' if holds else 'does not hold either'}")
    return found


def read(results: Path) -> dict[Warmup, list[float]]:
    """The loss of each seed of the runs of `confounds` that the short warm-up is judged by, after the updates that they
    have in common."""
    study = study_of("confounds")
    found: dict[Warmup, list[float]] = {}
    for run in expand(study):
        its, curve = run.settings, results / study.study / run.folder / "curve.csv"
        one = Warmup(its.warmup, its.accumulate)
        if its.optimizer == "adam" and one in (SHORT, SHORT_LARGER, LONG_LARGER) and curve.exists():
            # A run that diverged before has no such epoch.
            common = first_where(curve, "updates", COMMON_UPDATES, within=1) or {"valid_loss": math.inf}
            found.setdefault(one, []).append(common["valid_loss"])
    return found


def table(results: Path) -> str:
    """The runs of `confounds` that Adam's short warm-up is judged by, and the answers whose runs are done."""
    found = read(results)
    rows = [
        (
            f"{one.batches} x 1,024" if one.batches > 1 else "1,024",
            warm_up(one.updates),
            ", ".join(f"{loss:.2f}" for loss in found[one]),
        )
        for one in (SHORT, SHORT_LARGER, LONG_LARGER)
        if one in found
    ]
    head = ["tokens an update", "warm-up", f"loss after {COMMON_UPDATES:,} updates, of each seed"]
    return answered(head, rows, answer(found))
