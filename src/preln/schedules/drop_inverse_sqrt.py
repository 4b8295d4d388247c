"""The constant rate with an inverse square root behind it (WMT14, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from preln.schedules.base import Schedule
from preln.values import short


@dataclass(frozen=True)
class DropInverseSqrt(Schedule):
    """The peak; after update D, the last of the epoch `drop_epoch`, the peak times `drop_factor` sqrt(D / t)."""

    name: ClassVar[str] = "drop-inverse-sqrt"
    about: ClassVar[str] = "`drop-inverse-sqrt` (constant until an epoch, then inverse square root)"
    drop_epoch: int
    drop_factor: float

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        if drop_update is None or update <= drop_update:
            return self.learning_rate
        return self.learning_rate * self.drop_factor * sqrt(drop_update / update)

    def label(self) -> str:
        """For example `constant, ×1 after epoch 6, then inverse sqrt`."""
        return f"constant, ×{short(self.drop_factor)} after epoch {self.drop_epoch}, then inverse sqrt"

    def parts(self) -> list[str]:
        """For example `isqrt`, `drop6`."""
        return ["isqrt", *self.warmup_part(), f"drop{self.drop_epoch}"]

    def told(self) -> frozenset[str]:
        return frozenset({"drop_epoch"})


SCHEDULE = DropInverseSqrt
