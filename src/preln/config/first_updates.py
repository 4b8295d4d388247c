"""The runs whose first updates are traced."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from preln.config.grid import Entry, Grid
from preln.config.language import LanguageSettings
from preln.config.translation import RunSettings

MOST_TRACED = 10_000
"""Updates of a trace; its record has a row for each."""


class FirstUpdates(Grid[Entry]):
    """The first updates of runs, one by one: what each does to the function that the model computes. The runs are
    translation runs, or language models where `settings` or `runs` name a `text`; a section has one of the two. They
    are traced and not trained. A trace is in fp32, on one GPU or one process."""

    run: ClassVar[type[RunSettings | LanguageSettings]] = RunSettings
    updates: int = Field(
        200,
        ge=1,
        le=MOST_TRACED,
        description="Updates of each run; the first epoch of a translation run must have them.",
    )
    sharpness_every: int = Field(
        20,
        ge=1,
        le=MOST_TRACED,
        description="Updates between two measurements of the sharpness, each of which costs as much as 16 updates.",
    )


class LanguageFirstUpdates(FirstUpdates):
    """The first updates of language models."""

    run: ClassVar[type[RunSettings | LanguageSettings]] = LanguageSettings


def _kind(section: Any) -> Literal["translation", "language"]:
    """The kind of the runs of a section, as the file has it or as an object."""
    if isinstance(section, dict):
        runs = section.get("runs")
        parts = [section.get("settings"), *(runs if isinstance(runs, list) else [])]
        return "language" if any(isinstance(part, dict) and "text" in part for part in parts) else "translation"
    return "language" if isinstance(section, LanguageFirstUpdates) else "translation"


AnyFirstUpdates = Annotated[
    Annotated[FirstUpdates, Tag("translation")] | Annotated[LanguageFirstUpdates, Tag("language")], Discriminator(_kind)
]
