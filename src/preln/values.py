"""Values of settings as text, and names."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

NAME = "[a-z0-9][a-z0-9-]*"
"""A name that becomes a part of file names, as a regular expression."""


def short(value: Any) -> str:
    """A value as run ids, figures and tables have it: 0.3 as it is, 0.001 as 1e-3, a limit that is not set as all. Two
    numbers that differ have two texts."""
    if not isinstance(value, float):
        return "all" if value is None else str(value).lower()
    number = Decimal(repr(value)).normalize()
    return f"{number:f}" if value >= 0.01 or value == 0 else f"{number:e}"
