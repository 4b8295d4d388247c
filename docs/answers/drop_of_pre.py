"""Is Pre-LN behind at a low rate because its rate does not drop? (C14)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.answers import small_causes
from docs.markdown import answered, each_seed

DROPPED = ("pre", 0, 5)
"""Pre-LN of `small-causes` whose rate drops before the compared epoch, as the paper's does."""


def answer(constant: Sequence[float], dropped: Sequence[float]) -> list[str]:
    """Whether the missing drop is why Pre-LN is behind, from how far it is behind without a drop and with it."""
    return [f"the missing drop is {word}" for word in small_causes.cause(constant, dropped)]


def table(results: Path) -> str:
    """Pre-LN at the low rate with and without a drop where C14 reads it, Post-LN, and the answer."""
    before, last = small_causes.LONG
    rows = [
        (name, rate, str(epoch), each_seed(found[model])[0])
        for model, name, rate, epoch in (
            (small_causes.PRE, "Pre-LN", "constant", before),
            (DROPPED, "Pre-LN", "constant, ×0.1 after epoch 5", before),
            (small_causes.POST, "Post-LN", "constant, after a warm-up of 180 updates", last),
        )
        if model in (found := small_causes.read(results, epoch))
    ]
    said = answer(*(small_causes.behind(results, small_causes.LONG, pre=pre) for pre in (small_causes.PRE, DROPPED)))
    return answered(["", "rate", "after epochs", "loss of each seed"], rows, said)
