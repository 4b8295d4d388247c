"""Is Pre-LN behind at a low rate because it is read after too few updates? (C14)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.answers.small_causes import LONG, POST, PRE, SHORT, behind, cause, read
from docs.markdown import answered, each_seed

NAMES = {PRE: "Pre-LN, no warm-up", POST: "Post-LN, warm-up of 180 updates"}


def answer(short: Sequence[float], long: Sequence[float]) -> list[str]:
    """Whether too few updates are why Pre-LN is behind, after the short training and after the long one."""
    return [f"too few updates are {word}" for word in cause(short, long)]


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
