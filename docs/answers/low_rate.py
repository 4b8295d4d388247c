"""Is Pre-LN behind at a low rate because it is read after too few updates? (C14)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.answers.early_drop import NEAR_ENOUGH
from docs.committed import Ends, after_epoch, by_settings, translations
from docs.markdown import answered, each_seed
from preln.report.core.statistics import estimate, mean

SHORT, LONG = (1, 2), (6, 10)
"""After which epochs Pre-LN and Post-LN are compared: as in `placements`, and as C14 does in `small-causes`."""
Model = tuple[str, int, int | None]
"""A placement, the updates of its warm-up, and the epoch after which its rate drops, if it does."""
PRE, POST = ("pre", 0, None), ("post", 180, None)
NAMES = {PRE: "Pre-LN, no warm-up", POST: "Post-LN, warm-up of 180 updates"}


def answer(short: Sequence[float], long: Sequence[float]) -> list[str]:
    """Whether too few updates are why Pre-LN is behind, after the short training and after the long one."""
    return [f"too few updates are {word}" for word in cause(short, long)]


def cause(before: Sequence[float], after: Sequence[float]) -> list[str]:
    """Whether what was changed is why Pre-LN is behind, from how far it was behind by seed, and how far it is then.
    Nothing is said before both have three seeds."""
    if not len(before) == len(after) == 3:
        return []
    if estimate(list(after)).high <= NEAR_ENOUGH:
        return ["the cause"]
    return ["a cause in part" if mean(after) <= mean(before) / 2 else "no cause"]


def read(results: Path, epoch: int) -> dict[Model, Ends]:
    """Each seed of the models of `small-causes` at the low rate, after an epoch."""
    runs = translations(results, "small-causes", lambda folder: after_epoch(folder, epoch))
    return by_settings(
        runs, lambda its: (its.placement, its.warmup, its.drop_epoch) if its.corpus == "embedded" else None
    )


def behind(results: Path, epochs: tuple[int, int], post: Model = POST, pre: Model = PRE) -> list[float]:
    """How far Pre-LN is behind after the first of the epochs where Post-LN is after the second, by seed."""
    ours, theirs = (
        read(results, epoch).get(model, Ends()).losses for model, epoch in zip((pre, post), epochs, strict=True)
    )
    return [one - other for one, other in zip(ours, theirs, strict=False)]


def table(results: Path) -> str:
    """Both placements at the low rate, after the epochs that are compared, and the answer."""
    rows = [
        (name, str(epoch), each_seed(found[model])[0])
        for epochs in (SHORT, LONG)
        for (model, name), epoch in zip(NAMES.items(), epochs, strict=True)
        if model in (found := read(results, epoch))
    ]
    said = answer(*(behind(results, epochs) for epochs in (SHORT, LONG)))
    return answered(["", "after epochs", "loss of each seed"], rows, said)
