"""Where the LayerNorm goes: a module for each placement, with its record `PLACEMENT`.

To add a placement is to add a module. Studies, models, theory, figures and tables take the placements from here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from preln.discovery import defined
from preln.placements.base import Placement

PAPER = ("post", "pre")
"""The two that the paper compares, in its figures and claims and in the theory of every study."""

_FOUND: dict[str, Placement] = defined(sys.modules[__name__], "PLACEMENT")

PLACEMENTS = {name: _FOUND[name] for name in sorted(_FOUND, key=lambda name: (name not in PAPER, name))}
"""Every placement by the name that a study uses for it; the paper's come first."""


def in_order(names: Iterable[str]) -> list[str]:
    """The names of placements, each once, in the order of `PLACEMENTS`."""
    given = set(names)
    return [name for name in PLACEMENTS if name in given]
