"""What the grids of translation and of pre-training share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from preln.config.base import Settings

Placement = Literal["post", "pre"]
Precision = Literal["fp32", "bf16", "fp16"]


class Entry(Settings):
    """One line of a grid: settings of its own, lists where the grid takes each value."""

    model_config = ConfigDict(extra="allow", frozen=True)
    execution: dict[str, Any] = Field(
        default_factory=dict, description="Keys of `execution`, for these runs in place of the study's."
    )


class Grid(Settings):
    """The settings that all runs of a grid have."""

    settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of every run, unless the run says otherwise."
    )

    def with_known_keys(self, entries: Sequence[Entry], run: type[BaseModel]) -> Self:
        """The grid of these entries, whose keys and whose settings' are keys of a run alone."""
        for place, keys in [
            ("settings", self.settings.keys()),
            *((f"runs.{i}", (entry.model_extra or {}).keys()) for i, entry in enumerate(entries)),
        ]:
            unknown = sorted(set(keys) - run.model_fields.keys())
            if unknown:
                allowed = ", ".join(run.model_fields)
                raise ValueError(f"{place}: unknown key {', '.join(unknown)}; allowed: {allowed}")
        return self
