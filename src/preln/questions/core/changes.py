"""The changes of the rules of all questions, as data: `changes.csv`, one a line, in the order of time for each.

A text that several changes share stands there as its name in braces; the lines without a question have these texts, by
their names in place of the date.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter


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
    text = files(__package__).joinpath("changes.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    shared = {row["date"]: row["rule"] for row in rows if not row["question"]}
    for row in filter(itemgetter("question"), rows):
        change = Change(row["date"], *(row[column].format_map(shared) for column in ("rule", "why", "verdicts")))
        changes[row["question"]] = (*changes.get(row["question"], ()), change)
    return changes
