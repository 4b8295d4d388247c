"""Training steps of size A with each placement, and of Post-LN and Pre-LN with each option."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import training
from preln.placements import PAPER, PLACEMENTS

OPTIONS: dict[str, dict[str, Any]] = {"rms": {"norm": "rms"}, "qk": {"qk_norm": True}}


def work(placement: str, *options: str) -> Callable[[], int]:
    """A round of training steps in fp32; its units are target tokens."""
    changes: dict[str, Any] = {"placement": placement}
    for option in options:
        changes |= OPTIONS[option]
    return training.work("preln", "A", "fp32", changes=changes)


def models() -> Iterator[tuple[str, ...]]:
    """The arguments of `work` for each model, except for Post-LN without options."""
    yield from ((name,) for name in PLACEMENTS if name != "post")
    yield from itertools.product(PAPER, OPTIONS)
