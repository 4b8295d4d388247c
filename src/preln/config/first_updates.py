"""The runs whose first updates are traced."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from preln.config.grid import Entry, Grid
from preln.config.translation import RunSettings

MOST_TRACED = 10_000
"""Updates of a trace; its record has a row for each."""


class TracedEntry(Entry):
    """One line of the grid of traces: these keys, and those of a run. `first_updates.settings` has the latter too."""


class FirstUpdates(Grid[TracedEntry]):
    """The first updates of translation runs, one by one: what each does to the function that the model computes. The
    runs of this section are traced and not trained. A trace is in fp32, on one GPU or one process."""

    run: ClassVar[type[RunSettings]] = RunSettings
    updates: int = Field(200, ge=1, le=MOST_TRACED, description="Updates of each run; its first epoch must have them.")
    sharpness_every: int = Field(
        20,
        ge=1,
        le=MOST_TRACED,
        description="Updates between two measurements of the sharpness, each of which costs as much as 16 updates.",
    )
