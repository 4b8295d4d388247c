"""The changes of the rules of all questions, as data: `changes.csv`, one a line, in the order of time for each.

A text that several changes share stands there as its name in braces.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SHARED = {
    "ledger-rule": "Of several seeds, the whole 95% interval of the mean had to lie within the bounds; one seed "
    "decided by its value.",
    "ledger-why": "One seed held, two that agreed were undecided, and three held again. Now a comparison points that "
    "way where every seed meets the bound, and holds with three of them; the interval decides where seeds disagree. "
    "Losses are capped at the unigram baseline, and ratios are averaged on the log scale.",
    "seeds-rule": "The means over the seeds decided.",
    "seeds-why": "Each seed is asked now, and pairs of the same seed are compared, as in the ledger.",
    "unwarmed-rule": "Runs that ended within their warm-up were judged.",
    "unwarmed-why": "They say nothing of it. It was changed on the day of the first ledger, and was not listed until "
    "2026-11-28. No verdict of a committed study depends on it.",
    "check": "It checks our code, and is not counted any more.",
}
"""The texts that several changes share."""


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
    for row in csv.DictReader(text.splitlines()):
        change = Change(row["date"], *(row[column].format_map(SHARED) for column in ("rule", "why", "verdicts")))
        changes[row["question"]] = (*changes.get(row["question"], ()), change)
    return changes
