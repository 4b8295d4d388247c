"""The inverse square root of Vaswani et al. (2017), in three readings (section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal

from preln.schedules.base import Schedule

Anchor = Literal["warmup", "hold", "shift"]


@dataclass(frozen=True)
class InverseSqrt(Schedule):
    """A decay with the inverse square root of the update t.

    It is anchored in one of three ways, since the paper does not say how it is anchored without a warm-up. With
    `decay_period` equal to the warm-up, all three are the same:

    - `warmup`: peak * sqrt(W / t) with W = max(warmup, 1), as fairseq computes `T_warmup = 1`;
    - `hold`: the peak until update P = `decay_period`, then peak * sqrt(P / t);
    - `shift`: peak * sqrt(P / (P + t - warmup)).
    """

    name: ClassVar[str] = "inverse-sqrt"
    about: ClassVar[str] = "`inverse-sqrt`"
    anchor: Anchor
    decay_period: int

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        peak, period = self.learning_rate, self.decay_period
        match self.anchor:
            case "warmup":
                return peak * sqrt(max(self.warmup, 1) / update)
            case "hold":
                return peak * sqrt(period / max(update, period))
            case "shift":
                return peak * sqrt(period / (period + update - self.warmup))

    def idle(self) -> frozenset[str]:
        """The period, where the decay is anchored at the warm-up."""
        return frozenset({"decay_period"} if self.anchor == "warmup" else ())

    def label(self) -> str:
        """For example `constant to 4000, inverse sqrt`."""
        # A peak held until its warm-up ends is a decay from the end of warm-up.
        if self.anchor == "warmup" or (self.anchor == "hold" and self.warmup == self.decay_period):
            return "inverse sqrt"
        if self.anchor == "hold":
            return f"constant to {self.decay_period}, inverse sqrt"
        return f"inverse sqrt of t + {self.decay_period}"

    def problems(self) -> Iterator[str]:
        """A peak that would be constant to an update inside of the warm-up."""
        if self.anchor == "hold" and self.warmup > self.decay_period:
            yield f"warmup: {self.warmup} exceeds decay_period {self.decay_period} (anchor hold)"

    def parts(self) -> list[str]:
        """For example `wu0`, `hold4000`: most runs have this schedule, so its name is left out."""
        return [f"wu{self.warmup}", *([] if self.anchor == "warmup" else [f"{self.anchor}{self.decay_period}"])]

    def told(self) -> frozenset[str]:
        """The anchor, and the period where it is anchored by one."""
        return frozenset({"anchor"} if self.anchor == "warmup" else {"anchor", "decay_period"})


SCHEDULE = InverseSqrt
