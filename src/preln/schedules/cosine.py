"""The cosine (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi
from typing import ClassVar

from preln.schedules.base import Schedule


@dataclass(frozen=True)
class Cosine(Schedule):
    """Half a cosine, from the peak to zero at update `decay_updates`, and zero from there."""

    name: ClassVar[str] = "cosine"
    about: ClassVar[str] = "`cosine`"
    decay_updates: int

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        """The rate of an update after the warm-up."""
        share = min(1.0, (update - self.warmup) / (self.decay_updates - self.warmup))
        return self.learning_rate * (1 + cos(pi * share)) / 2

    def label(self) -> str:
        """For example `cosine to 0 at update 8000`."""
        return f"cosine to 0 at update {self.decay_updates}"

    def problems(self) -> Iterator[str]:
        """An end inside of the warm-up."""
        if self.decay_updates <= self.warmup:
            yield f"decay_updates: {self.decay_updates} does not exceed warmup {self.warmup}"

    def parts(self) -> list[str]:
        """For example `cosine8000`."""
        return [f"cosine{self.decay_updates}", *self.warmup_part()]

    def told(self) -> frozenset[str]:
        """The end."""
        return frozenset({"decay_updates"})


SCHEDULE = Cosine
