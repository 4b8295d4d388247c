"""The parts that every learning-rate schedule has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import ClassVar, Protocol, Self, get_args, get_type_hints


class ScheduledRun(Protocol):
    """The settings of a run, as its schedule reads them: these two, and its own fields by their names."""

    @property
    def schedule(self) -> str:
        """The name of the schedule."""

    @classmethod
    def default_of(cls, key: str) -> object:
        """The value of a setting that a study leaves out."""


@dataclass(frozen=True)
class Schedule(ABC):
    """The learning rate of each update, in closed form. An update is counted from 1.

    A schedule is a class with a field for each setting of a run that it reads. A field whose type excludes None is
    required. Every schedule may begin with the paper's linear warm-up (Eq. 1); without it, the
    first update already has the rate that follows a warm-up of no updates.

    Attributes:
        name: in a study.
        about: the name in the list of a study's keys, with what one must know of it.
        learning_rate: the peak rate.
        warmup: updates of the warm-up; 0 is none.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    learning_rate: float
    warmup: int

    @classmethod
    def of(cls, settings: ScheduledRun) -> Self:
        """The schedule of a run."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})

    @classmethod
    @cache
    def reads(cls) -> frozenset[str]:
        """The settings of a run that it reads, beside the peak rate and the warm-up."""
        return frozenset(field.name for field in fields(cls)) - {field.name for field in fields(Schedule)}

    @classmethod
    @cache
    def needs(cls) -> list[str]:
        """Those of them that may not be left out."""
        hints = get_type_hints(cls)
        return [field.name for field in fields(cls) if NoneType not in get_args(hints[field.name])]

    def rate(self, update: int, drop_update: int | None = None) -> float:
        """The rate of update number `update`, from 1; `drop_update` is the last of epoch `drop_epoch`, and None while
        that epoch has not ended."""
        if update <= self.warmup:
            return self.learning_rate * update / self.warmup
        return self.rate_after_warmup(update, drop_update)

    @abstractmethod
    def rate_after_warmup(self, update: int, drop_update: int | None) -> float:
        """The rate of an update after the warm-up."""

    @abstractmethod
    def label(self) -> str:
        """The course of the rate after its warm-up, in a few words."""

    def idle(self) -> frozenset[str]:
        """Those of the settings it reads that change no rate, as the others are."""
        return frozenset()

    def problems(self) -> Iterator[str]:
        """The mistakes in its settings, a line each, which begins with the key."""
        return iter(())

    def parts(self) -> list[str]:
        """Its parts of a run's id."""
        return [self.name, *self.warmup_part()]

    def told(self) -> frozenset[str]:
        """The settings that these parts tell in full; any other is named in the id where it is not the study's own."""
        return frozenset()

    def warmup_part(self) -> list[str]:
        """The warm-up as a part of an id; none where there is no warm-up."""
        return [f"wu{self.warmup}"] if self.warmup else []
