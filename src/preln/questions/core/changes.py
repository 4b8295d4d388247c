"""The changes of the rules of all questions, as data: `changes.csv`, one a line, in the order of time for each.

A text that several changes share stands there as its name in braces, and is in `shared_texts.csv`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from preln.report.reference import cells


@dataclass(frozen=True)
class Change:
    """A change of a rule: its date, the rule before it in words, the reason, and the verdicts of the committed studies
    that it changed or left, as `study: before → after`."""

    date: str
    rule: str
    why: str
    verdicts: str


@cache
def load() -> dict[str, tuple[Change, ...]]:
    """The changes by the names of the questions."""
    changes: dict[str, tuple[Change, ...]] = {}
    shared = {row["name"]: row["text"] for row in cells("shared_texts.csv", __package__)}
    for row in cells("changes.csv", __package__):
        change = Change(row["date"], *(row[column].format_map(shared) for column in ("rule", "why", "verdicts")))
        changes[row["question"]] = (*changes.get(row["question"], ()), change)
    return changes
