"""Do whole trainings at the paper's size end as the paper's do? (C9, C13, C15)"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from docs.committed import Ends, after_epoch, by_settings, last_of, translations
from docs.markdown import answered, each_seed
from preln import recording

STUDY = "iwslt14-50k-scaled"
COMPARED = 9
"""The epoch of Pre-LN that C14 compares with Post-LN's last: three fifths of fifteen, as in the paper."""


class Whole(NamedTuple):
    """What the runs of the study differ in, but for the seed."""

    placement: str
    optimizer: str
    warmup: int
    beta2: float = 0.98


PRE, POST = Whole("pre", "adam", 0), Whole("post", "adam", 1333)
MODELS = {
    "Pre-LN, Adam, no warm-up": PRE,
    "Post-LN, Adam, warm-up of 1,333": POST,
    "Pre-LN, RAdam": Whole("pre", "radam", 0),
    "Post-LN, RAdam": Whole("post", "radam", 0),
    "Post-LN, RAdam, β2 = 0.999": Whole("post", "radam", 0, 0.999),
    "Post-LN, Adam, no warm-up": Whole("post", "adam", 0),
}


def lowest_of(folder: Path) -> dict[str, float]:
    """A run's numbers after the epoch with the lowest validation loss."""
    found: dict[str, float] = recording.read_metrics(folder)["best"]
    return found


after_the_compared: Callable[[Path], dict[str, float]] = partial(after_epoch, epoch=COMPARED)
"""A run's numbers after the compared epoch."""


def read(results: Path, what: Callable[[Path], dict[str, float]] = last_of) -> dict[Whole, Ends]:
    """Each seed of the runs that are done: its end, or what else is read of it."""
    return by_settings(
        translations(results, STUDY, what), lambda its: Whole(its.placement, its.optimizer, its.warmup, its.beta2)
    )


def table(results: Path) -> str:
    """The runs that are done: after the compared epoch, where their loss was lowest, and at their end. No rule has all
    the runs that it reads yet."""
    at = [read(results, what) for what in (after_the_compared, lowest_of, last_of)]
    rows = []
    for name, one in MODELS.items():
        if one in at[0]:
            early, lowest, end = (each_seed(ends[one]) for ends in at)
            rows.append((name, *early, lowest[0], *end))
    after = f"after epoch {COMPARED}"
    head = ["", f"loss {after}", f"BLEU {after}", "lowest loss", "loss at the end", "BLEU at the end"]
    return answered(head, rows, ())
