"""Is Pre-LN behind at a low rate because it is read after too few updates? (C14)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.committed import Ends, after_epoch, by_settings, translations
from docs.markdown import answered, each_seed
from preln.report.core.statistics import estimate

NEAR_ENOUGH = 0.05
"""By how many bits C14 lets Pre-LN be behind."""
COMPARED = (6, 10)
"""The epochs of `small-causes` that C14 compares: three fifths of Pre-LN's, and all of Post-LN's."""


def answer(pre: Sequence[float], post: Sequence[float]) -> list[str]:
    """Whether too few updates are why Pre-LN is behind, from its losses after three fifths of the epochs, and Post-LN's
    after all, by seed. Nothing is said before both have three seeds."""
    if not len(pre) == len(post) == 3:
        return []
    behind = estimate([one - other for one, other in zip(pre, post, strict=True)])
    if behind.high <= NEAR_ENOUGH:
        return ["too few updates are the cause"]
    return ["too few updates are no cause" if behind.low > NEAR_ENOUGH else "undecided"]


def read(results: Path, epoch: int) -> dict[str, Ends]:
    """Each seed of the two placements in `small-causes`, after an epoch."""
    runs = translations(results, "small-causes", lambda folder: after_epoch(folder, epoch))
    return by_settings(runs, lambda its: its.placement)


def table(results: Path) -> str:
    """Both placements at the low rate, after the epochs that C14 compares, and the answer."""
    earlier, at_the_end = (read(results, epoch) for epoch in COMPARED)
    names = {"pre": "Pre-LN, no warm-up", "post": "Post-LN, warm-up of 180 updates"}
    rows = [
        (name, str(epoch), each_seed(found[placement])[0])
        for placement, name in names.items()
        for epoch, found in zip(COMPARED, (earlier, at_the_end), strict=True)
        if placement in found
    ]
    losses = [found.get(placement, Ends()).losses for placement, found in (("pre", earlier), ("post", at_the_end))]
    return answered(["", "after epochs", "loss of each seed"], rows, answer(*losses))
