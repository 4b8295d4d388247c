"""What the questions share that `small-causes` answers, most of them about Pre-LN at a low rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.answers.bounds import C14_BEHIND
from docs.committed import Ends, after_epoch, by_settings, differences, have_all_seeds, translations
from preln.report.core.statistics import estimate, mean

STUDY = "small-causes"
SHORT, LONG = (1, 2), (6, 10)
"""After which epochs Pre-LN and Post-LN are compared: as in `placements`, and as C14 does in `small-causes`."""
Model = tuple[str, int, int | None]
"""A placement, the updates of its warm-up, and the epoch after which its rate drops, if it does."""
PRE, POST = ("pre", 0, None), ("post", 180, None)


def cause(before: Sequence[float], after: Sequence[float]) -> list[str]:
    """Whether what was changed is why Pre-LN is behind, from how far it was behind by seed, and how far it is then.
    Nothing is said before both have three seeds."""
    if not have_all_seeds(before, after):
        return []
    if estimate(list(after)).high <= C14_BEHIND:
        return ["the cause"]
    return ["a cause in part" if mean(after) <= mean(before) / 2 else "no cause"]


def read(results: Path, epoch: int) -> dict[Model, Ends]:
    """Each seed of the models of `small-causes` at the low rate, after an epoch."""
    runs = translations(results, STUDY, after_epoch(epoch))
    return by_settings(
        runs, lambda its: (its.placement, its.warmup, its.drop_epoch) if its.corpus == "embedded" else None
    )


def behind(results: Path, epochs: tuple[int, int], post: Model = POST, pre: Model = PRE) -> list[float]:
    """How far Pre-LN is behind after the first of the epochs where Post-LN is after the second, by seed."""
    ours, theirs = (read(results, epoch).get(model, Ends()) for model, epoch in zip((pre, post), epochs, strict=True))
    return differences(ours, theirs)
