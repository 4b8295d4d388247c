"""Where the LayerNorm goes: a module for each placement, with its record `PLACEMENT`.

To add a placement is to add a module. Studies, models, theory, figures and tables take the placements from here. A
study may also name a Python file, or an entry point of another package, which has such a record.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from preln.discovery import defined, load_file, require_name
from preln.errors import PrelnError
from preln.placements.base import Placement

PAPER = ("post", "pre")
"""The two that the paper compares, in its figures and claims and in the theory of every study."""
ENTRY_POINTS = "preln.placements"
"""The group of entry points by which another package offers placements."""

_LOOKS = (
    *(("#000000", "1", "/"), ("#88ccee", "2", "\\"), ("#ddcc77", "3", "x"), ("#661100", "4", "+")),
    *(("#6699cc", "+", "o"), ("#ee7733", "|", "|"), ("#009988", "_", "-"), ("#bbbbbb", ".", "*")),
)
"""Colour, marker and hatch of placements that do not come along, in the order in which they are read."""


class Placements(dict[str, Placement]):
    """Placements by the key that settings have: the name of one that comes along, or what `resolve` returns."""

    def __missing__(self, key: str) -> Placement:
        return self[resolve(key)]


_FOUND: dict[str, Placement] = defined(sys.modules[__name__], "PLACEMENT")

PLACEMENTS = Placements((name, _FOUND[name]) for name in sorted(_FOUND, key=lambda name: (name not in PAPER, name)))
"""Every placement; the paper's come first, and those that do not come along last."""
COME_ALONG = tuple(PLACEMENTS)


def in_order(names: Iterable[str]) -> list[str]:
    """The names of placements, each once, in the order of `PLACEMENTS`."""
    given = set(names)
    return [name for name in PLACEMENTS if name in given]


def resolve(name: str) -> str:
    """Find, and read if it does not come along, the placement that a study names.

    Args:
        name: of one that comes along, of a Python file (`mine.py`), or of an entry point of another package; or with a
            digest, as this function and `identified` return it, for the same content alone.

    Returns:
        Its key: the name, with the digest of the file's content (`mine.py@0123456789abcdef`) if it does not come along.

    Raises:
        PrelnError: if there is none, or its file is wrong, with the line; or if it is no longer what the key says.
    """
    if name in PLACEMENTS:
        return name
    where, digest = re.fullmatch(r"(.*?)(?:@([0-9a-f]{16}))?", name, re.DOTALL).groups()  # type: ignore[union-attr]
    # The file may have been moved since the name was recorded: what was read last is of the study at hand.
    if digest and (key := next((key for key in reversed(PLACEMENTS) if key.endswith(f"@{digest}")), None)):
        return key
    path, attribute = _file(where)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PrelnError(f"{path}: cannot be read ({error.strerror})") from None
    current = hashlib.sha256(content).hexdigest()[:16]
    if digest not in (None, current):
        raise PrelnError(f"{path}: has changed, and what was trained with it before needs it as it was ({digest})")
    key = f"{where}@{current}"
    if key not in PLACEMENTS:
        placement, line = load_file(path, content, attribute, Placement)
        require_name(f"{path}:{line}: {attribute}", placement.name, COME_ALONG)
        colour, marker, hatch = _LOOKS[(len(PLACEMENTS) - len(COME_ALONG)) % len(_LOOKS)]
        PLACEMENTS[key] = replace(
            placement,
            colour=placement.colour or colour,
            marker=placement.marker or marker,
            hatch=placement.hatch or hatch,
        )
    return key


def identified(key: str) -> str:
    """A placement as the identity of a run has it: its name, with the digest of its content if it does not come along;
    a file that is moved is the same placement."""
    where, _, digest = key.rpartition("@")
    return f"{PLACEMENTS[key].name}@{digest}" if where else key


def _file(where: str) -> tuple[Path, str]:
    """The file of a placement that does not come along, and its name there."""
    if where.endswith(".py"):
        return Path(where).expanduser(), "PLACEMENT"
    for entry_point in importlib.metadata.entry_points(group=ENTRY_POINTS, name=where):
        spec = importlib.util.find_spec(entry_point.module)
        if spec is not None and spec.origin is not None:
            return Path(spec.origin), entry_point.attr
    raise PrelnError(
        f"Input should be {', '.join(COME_ALONG)}; a Python file, such as mine.py; or an entry point of another "
        f"package in the group {ENTRY_POINTS}"
    )
