"""What every section of a study is made of: strict settings, names, paths of this machine, and checks of lists."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Number = TypeVar("Number", int, float)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"{path}: there is no such home folder") from None


LocalPath = Annotated[Path, AfterValidator(_expanded)]
"""A file or folder of this machine; `~` is the user's home."""


def ascending(values: tuple[Number, ...]) -> tuple[Number, ...]:
    """The values, if each is greater than the one before.

    Raises:
        ValueError: if one is not.
    """
    if any(left >= right for left, right in itertools.pairwise(values)):
        raise ValueError(f"{list(values)} must ascend, each number once")
    return values


def distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values, if each stands once.

    Raises:
        ValueError: with those that stand more often.
    """
    if repeated := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
        raise ValueError(f"given twice: {', '.join(repeated)}")
    return values


class Settings(BaseModel):
    """Base of all sections: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def local_paths(self) -> list[Path]:
        """The files and folders of this machine that the section names, in its order."""
        return [path for _, value in self for path in _paths(value)]


def _paths(value: object) -> list[Path]:
    """The paths in a section's value."""
    match value:
        case Path():
            return [value]
        case Settings():
            return value.local_paths
        case tuple():
            return [path for one in value for path in _paths(one)]
        case dict():
            return _paths(tuple(value.values()))
    return []
