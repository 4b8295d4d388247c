"""Which keys the data model knows at a place of a study."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from preln.config.grid import Grid


def known(kind: Any, place: Sequence[int | str]) -> list[str]:
    """The keys of a section.

    Args:
        kind: the type of what is checked, such as `Study`.
        place: where in it the section stands, as pydantic tells places: with the branches of unions.
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not place:
            return list(kind.model_fields)
        field = kind.model_fields.get(str(place[0]))
        of_runs = list(kind.run.model_fields) if issubclass(kind, Grid) else []
        return [*(known(field.annotation, place[1:]) if field else []), *of_runs]
    parts = get_args(kind)
    origin = get_origin(kind)
    if origin is Annotated:
        return known(parts[0], place)
    if origin in (dict, tuple):
        return known(parts[-1] if origin is dict else parts[0], place[1:])
    if origin in (Union, UnionType):
        branches = [part for part in parts if part is not NoneType]
        if len(branches) == 1:
            return known(branches[0], place)
        return [key for branch in branches if place and _is(branch, place[0]) for key in known(branch, place[1:])]
    return []


def _is(kind: Any, branch: int | str) -> bool:
    """A section is that branch of a union: it has the branch's name as its tag, or as the only value of a key."""
    if get_origin(kind) is Annotated:
        return any(isinstance(tag, Tag) and tag.tag == branch for tag in get_args(kind))
    fields = kind.model_fields.values() if isinstance(kind, type) and issubclass(kind, BaseModel) else ()
    return any(get_args(field.annotation) == (branch,) for field in fields)
