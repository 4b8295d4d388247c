"""The constant rate, which may drop once (section 4.1, appendix H)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from preln.schedules.base import Schedule
from preln.values import short


@dataclass(frozen=True)
class Constant(Schedule):
    """The peak; after the epoch `drop_epoch`, if there is one, the peak times `drop_factor`."""

    name: ClassVar[str] = "constant"
    about: ClassVar[str] = "`constant`"
    drop_epoch: int | None
    drop_factor: float

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        dropped = drop_update is not None and update > drop_update
        return self.learning_rate * self.drop_factor if dropped else self.learning_rate

    def idle(self) -> frozenset[str]:
        """The drop's factor, where there is no drop."""
        return frozenset({"drop_factor"} if self.drop_epoch is None else ())

    def label(self) -> str:
        """For example `constant, ×0.1 after epoch 8`."""
        if self.drop_epoch is None:
            return "constant"
        return f"constant, ×{short(self.drop_factor)} after epoch {self.drop_epoch}"

    def parts(self) -> list[str]:
        """For example `const`, `drop8`."""
        return ["const", *self.warmup_part(), *([] if self.drop_epoch is None else [f"drop{self.drop_epoch}"])]

    def told(self) -> frozenset[str]:
        return frozenset({"drop_epoch"})


SCHEDULE = Constant
