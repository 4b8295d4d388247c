"""The paper's numbers as data: a module with its table for each kind of number, and its errata.

The paper has no table of results: its numbers are in the text and in the curves. Each is held with how it is known:

- `printed`: the exact number stands in the text;
- `stated`: the text gives it in round words, such as "around 34";
- `digitised`: measured in the figure of the paper;
- `read-off`: judged by eye from the figure, or hidden behind another curve there.
"""

import csv
from collections.abc import Iterable
from importlib.resources import files
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, TypeAdapter

OptionalNumber = Annotated[float | None, BeforeValidator(lambda cell: cell or None)]
"""A cell of a table that may be empty."""

T = TypeVar("T")


def cells(name: str, package: str = __name__) -> Iterable[dict[str, str]]:
    """The rows of a CSV file of a package, in its order, by column."""
    return csv.DictReader(files(package).joinpath(name).read_text(encoding="utf-8").splitlines())


def rows(name: str, kind: type[T]) -> tuple[T, ...]:
    """The rows of a CSV file of this package, in its order, as dataclasses whose fields are its columns.

    Raises:
        ValueError: if a cell is not what its field allows.
    """
    adapter = TypeAdapter(kind)
    return tuple(map(adapter.validate_python, cells(name)))
