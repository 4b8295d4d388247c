"""Warm-up, stable, decay: WSD (Hu et al., 2024, MiniCPM, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from preln.schedules.base import Schedule


@dataclass(frozen=True)
class StableDecay(Schedule):
    """The peak until update `decay_start`, then a linear decay to zero at update `decay_updates`."""

    name: ClassVar[str] = "stable-decay"
    about: ClassVar[str] = "`stable-decay` (WSD: constant, then linear to zero)"
    decay_start: int
    decay_updates: int

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        share = (self.decay_updates - update) / (self.decay_updates - self.decay_start)
        return self.learning_rate * min(1.0, max(0.0, share))

    def label(self) -> str:
        """For example `constant to 7000, linear to 0 at update 8000`."""
        return f"constant to {self.decay_start}, linear to 0 at update {self.decay_updates}"

    def problems(self) -> Iterator[str]:
        """A decay that begins inside of the warm-up, or ends before it begins."""
        if self.decay_start < self.warmup:
            yield f"decay_start: {self.decay_start} is before the end of the warm-up {self.warmup}"
        if self.decay_updates <= self.decay_start:
            yield f"decay_updates: {self.decay_updates} does not exceed decay_start {self.decay_start}"

    def parts(self) -> list[str]:
        """For example `wsd7000-8000`."""
        return [f"wsd{self.decay_start}-{self.decay_updates}", *self.warmup_part()]

    def told(self) -> frozenset[str]:
        return frozenset({"decay_start", "decay_updates"})


SCHEDULE = StableDecay
