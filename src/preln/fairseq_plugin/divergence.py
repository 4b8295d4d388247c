"""When a training counts as diverged, and where it was when it did."""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 10.0
"""A loss above this many times that of guessing every word alike has exploded. A model that merely fails to learn
stays near guessing, and runs to its end."""


@dataclass
class Progress:
    """The update that this process is computing, counted from 1; it says where an error struck."""

    update: int = 0


progress = Progress()
