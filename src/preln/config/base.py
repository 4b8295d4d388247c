"""What every section of a study is made of: its strictness, names, and lists that ascend."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from preln.errors import PrelnError

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
LocalPath = Annotated[Path, AfterValidator(Path.expanduser)]
"""A file or folder of this machine; `~` is the user's home."""


Number = TypeVar("Number", int, float)


def ascending(values: tuple[Number, ...]) -> tuple[Number, ...]:
    if any(left >= right for left, right in itertools.pairwise(values)):
        raise ValueError(f"{list(values)} must ascend, each number once")
    return values


def distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if repeated := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
        raise ValueError(f"given twice: {', '.join(repeated)}")
    return values


class StudyError(PrelnError):
    """A study that cannot be run; the message is written for the person who wrote the file."""


class Settings(BaseModel):
    """Base of all sections: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
