"""What the grids of translation and of pre-training share."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from preln.config.base import Settings

Placement = Literal["post", "pre"]
Precision = Literal["fp32", "bf16", "fp16"]


class Entry(Settings):
    """One line of a grid: settings of its own, lists where the grid takes each value."""

    model_config = ConfigDict(extra="allow", frozen=True)
    execution: dict[str, Any] = Field(
        default_factory=dict, description="Keys of `execution`, for these runs in place of the study's."
    )

    @model_validator(mode="after")
    def _runs_of_each(self) -> Self:
        if empty := [key for key, value in (self.model_extra or {}).items() if value == []]:
            raise ValueError(f"{', '.join(empty)}: [] makes no run; give a value or more, or leave the key out")
        return self


E = TypeVar("E", bound=Entry)


class Grid(Settings, Generic[E]):
    """Settings that all runs share, and lines with settings of their own; both are keys of `run`, and checked as such
    when they are taken together."""

    run: ClassVar[type[BaseModel]]
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of every run, unless the run says otherwise."
    )
    runs: tuple[E, ...] = Field(
        min_length=1,
        description="The grid. Each entry has keys of a run; a list makes a run of each of its values.",
    )

    @model_validator(mode="after")
    def _known_keys(self) -> Self:
        for place, keys in [
            ("settings", self.settings.keys()),
            *((f"runs.{i}", (entry.model_extra or {}).keys()) for i, entry in enumerate(self.runs)),
        ]:
            unknown = sorted(set(keys) - self.run.model_fields.keys())
            if unknown:
                allowed = ", ".join(self.run.model_fields)
                raise ValueError(f"{place}: unknown key {', '.join(unknown)}; allowed: {allowed}")
        return self
