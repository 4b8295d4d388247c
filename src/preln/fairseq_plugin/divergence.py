"""At which update a training diverged, and a validation loss that shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Position:
    """The update that this process is computing, counted from 1, to locate an error."""

    update: int = 0


position = Position()


def require_finite(loss: float) -> None:
    """Check a validation loss. In half precision it may overflow while all weights are finite.

    Raises:
        FloatingPointError: if it is not finite.
    """
    if not math.isfinite(loss):
        raise FloatingPointError("the loss of a validation is not finite")
