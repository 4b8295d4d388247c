"""Changes that the rules of many questions share."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from preln.questions.base import Change

_BEFORE = (
    "Of several seeds, the whole 95% interval of the mean had to lie within the bounds; one seed decided by its value."
)
_WHY = (
    "One seed held, two that agreed were undecided, and three held again. Now a comparison points that way where "
    "every seed meets the bound, and holds with three of them; the interval decides where seeds disagree. Losses are "
    "capped at the unigram baseline, and ratios are averaged on the log scale."
)


def ledger(before: Mapping[str, str], after: Mapping[str, str], also: str = "", rule: str = "") -> Change:
    """The ledger's rule of 2026-11-28, with what else was changed in a question on that day; `rule` is what else was
    asked before."""
    return Change(
        datetime.date(2026, 11, 28),
        " ".join(filter(None, (_BEFORE, rule))),
        " ".join(filter(None, (_WHY, also))),
        before,
        after,
    )
