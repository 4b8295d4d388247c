"""The linear decay to zero: RAdam's in section 4.1 and BERT's in section 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from preln.schedules.base import Schedule


@dataclass(frozen=True)
class Linear(Schedule):
    """A decay that reaches zero at update `decay_updates`, and stays there."""

    name: ClassVar[str] = "linear"
    about: ClassVar[str] = "`linear`"
    decay_updates: int

    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        end = self.decay_updates
        return self.learning_rate * max(0.0, (end - update) / (end - self.warmup))

    def label(self) -> str:
        """For example `linear to 0 at update 8000`."""
        return f"{self.name} to 0 at update {self.decay_updates}"

    def problems(self) -> Iterator[str]:
        """An end inside of the warm-up."""
        if self.decay_updates <= self.warmup:
            yield f"warmup: {self.warmup} reaches to the end of the decay, decay_updates {self.decay_updates}"

    def parts(self) -> list[str]:
        """For example `linear8000`."""
        return [f"{self.name}{self.decay_updates}", *self.warmup_part()]

    def told(self) -> frozenset[str]:
        return frozenset({"decay_updates"})


SCHEDULE = Linear
