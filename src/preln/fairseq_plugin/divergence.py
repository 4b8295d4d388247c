"""When a training counts as diverged, and where it was when it did."""

from __future__ import annotations

import math
from dataclasses import dataclass

LIMIT = 10.0
"""A loss above this many times that of guessing every word alike has exploded. A model that merely fails to learn
stays near guessing, and runs to its end."""


@dataclass
class Position:
    """The update that this process is computing, counted from 1; it says where an error struck."""

    update: int = 0


position = Position()


def require_finite(loss: float) -> None:
    """See that the loss of a validation is a number. In half precision it may overflow while all weights are finite.

    Raises:
        FloatingPointError: if it is none.
    """
    if not math.isfinite(loss):
        raise FloatingPointError("the loss of a validation is not finite")
