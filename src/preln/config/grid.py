"""Grids: the settings that runs share, and lines with settings of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializationInfo,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from preln.config.base import RECORDED, Settings
from preln.errors import PrelnError
from preln.placements import COME_ALONG, PLACEMENTS, identified, resolve

MOST_RUNS = 100_000
"""Largest number of runs of a grid."""


def _resolved(name: str) -> str:
    try:
        return resolve(name)
    except PrelnError as error:
        expected = ", ".join(map(repr, COME_ALONG))
        raise PydanticCustomError("placement", "{message}", {"message": str(error), "expected": expected}) from None


def _written(key: str, info: SerializationInfo) -> str:
    return key if info.context == RECORDED else identified(key)


Placement = Annotated[
    str,
    AfterValidator(_resolved),
    PlainSerializer(_written, when_used="json"),
    WithJsonSchema({"anyOf": [{"enum": [*COME_ALONG]}, {"type": "string", "pattern": r"\.py$"}]}),
]
_EACH = ", ".join(f"`{name}` ({PLACEMENTS[name].label}: {PLACEMENTS[name].source})" for name in COME_ALONG)
PLACEMENT = (
    f"Where LayerNorm stands: {_EACH}. Or a Python file of your own, such as `mine.py`, or an entry point of another "
    "package; the file's content is part of the run."
)
"""The description of the key in a study."""
NORM = "What the placement normalises by. `layer`: LayerNorm. `rms`: RMSNorm (Zhang and Sennrich, 2019)."
QK_NORM = (
    "QK-norm (Henry et al., 2020): queries and keys have length 1 in each head; a learnt factor takes the place of "
    "1/sqrt(d), where d is the width of a head."
)
"""The descriptions of the two options that every placement has."""

Precision = Literal["fp32", "bf16", "fp16"]


class Entry(Settings):
    """One entry of a grid: these keys, and those of a run; a list makes a run of each of its values. The section's
    `settings` take the keys of a run too."""

    model_config = ConfigDict(extra="allow", frozen=True)
    execution: dict[str, Any] = Field(
        default_factory=dict, description="Keys of `execution`, for these runs in place of the study's."
    )

    @model_validator(mode="after")
    def _runs_of_each(self) -> Self:
        if empty := [key for key, value in self.own.items() if value == []]:
            raise ValueError(f"{', '.join(empty)}: [] makes no run; give a value or more, or leave the key out")
        return self

    @property
    def own(self) -> dict[str, Any]:
        """Its settings of a run, as the file has them."""
        return self.model_extra or {}


def number_of_runs(own: Mapping[str, Any]) -> int:
    """How many runs an entry's settings make: one for each combination of the values of its lists."""
    return math.prod(len(value) for value in own.values() if isinstance(value, list | tuple))


E = TypeVar("E", bound=Entry)


class Grid(Settings, Generic[E]):
    """Settings that all runs share, and lines with settings of their own; both are keys of `run`, and checked as such
    when they are taken together."""

    run: ClassVar[type[BaseModel]]
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of every run, unless the run says otherwise."
    )
    runs: tuple[E, ...] = Field(
        min_length=1, description="The grid. Each entry has keys of a run; a list makes a run of each of its values."
    )

    @model_validator(mode="after")
    def _known_keys(self) -> Self:
        known = self.run.model_fields
        places: list[tuple[tuple[int | str, ...], dict[str, Any]]] = [
            (("settings",), self.settings),
            *((("runs", number), entry.own) for number, entry in enumerate(self.runs)),
        ]
        unknown = [
            InitErrorDetails(type="extra_forbidden", loc=(*place, key), input=value)
            for place, content in places
            for key, value in content.items()
            if key not in known
        ]
        if unknown:
            raise ValidationError.from_exception_data(type(self).__name__, unknown)
        return self

    @model_validator(mode="after")
    def _one_value_each(self) -> Self:
        lists = {key: value for key, value in self.settings.items() if isinstance(value, list | tuple)}
        advice = "must be one value, for all runs; a list belongs under `runs`"
        if lists:
            raise ValueError("\n".join(f"settings.{key}: {value}: {advice}" for key, value in lists.items()))
        return self

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        count = sum(number_of_runs(entry.own) for entry in self.runs)
        if count > MOST_RUNS:
            raise ValueError(f"runs: {count:,} runs; allowed: {MOST_RUNS:,} or fewer; divide the study")
        return self
