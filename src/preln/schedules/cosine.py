"""The cosine (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi
from typing import ClassVar

from preln.schedules.linear import Linear


@dataclass(frozen=True)
class Cosine(Linear):
    """Half a cosine, from the peak to zero at update `decay_updates`, and zero from there."""

    name: ClassVar[str] = "cosine"
    about: ClassVar[str] = "`cosine`"

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        share = min(1.0, (update - self.warmup) / (self.decay_updates - self.warmup))
        return self.learning_rate * (1 + cos(pi * share)) / 2


SCHEDULE = Cosine
