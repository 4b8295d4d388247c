"""The paper's numbers as data: a module with its table for each kind of number, and its errata.

The paper has no table of results: its numbers are in the text and in the curves. Each is held with how it is known:

- `printed`: the exact number stands in the text;
- `stated`: the text gives it in round words, such as "around 34";
- `digitised`: measured in the figure of the paper;
- `read-off`: judged by eye from the figure, or hidden behind another curve there.
"""

import csv
from importlib.resources import files
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, TypeAdapter

OptionalNumber = Annotated[float | None, BeforeValidator(lambda cell: cell or None)]
"""A cell of a table that may be empty."""

T = TypeVar("T")


def rows(name: str, kind: type[T]) -> tuple[T, ...]:
    """The rows of a CSV file of this package, in its order, as dataclasses whose fields are its columns.

    Raises:
        ValueError: if a cell is not what its field allows.
    """
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    adapter = TypeAdapter(kind)
    return tuple(adapter.validate_python(row) for row in csv.DictReader(text.splitlines()))
