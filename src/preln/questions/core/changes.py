"""Changes that the rules of many questions share."""

from __future__ import annotations

from preln.questions.base import Change

_BEFORE = (
    "Of several seeds, the whole 95% interval of the mean had to lie within the bounds; one seed decided by its value."
)
_WHY = (
    "One seed held, two that agreed were undecided, and three held again. Now a comparison points that way where "
    "every seed meets the bound, and holds with three of them; the interval decides where seeds disagree. Losses are "
    "capped at the unigram baseline, and ratios are averaged on the log scale."
)
CHECK = "It checks our code, and is not counted any more."


def ledger(verdicts: str, also: str = "", rule: str = "") -> Change:
    """The ledger's rule of 2026-11-28, with what else was changed in a question on that day; `rule` is what else was
    asked before."""
    before, why = (" ".join(filter(None, texts)) for texts in ((_BEFORE, rule), (_WHY, also)))
    return Change("2026-11-28", before, why, verdicts)


def seed_by_seed(verdicts: str, also: str = "") -> Change:
    """The same day's rule of our own questions, likewise."""
    why = "Each seed is asked now, and pairs of the same seed are compared, as in the ledger."
    why = " ".join(filter(None, (why, also)))
    return Change("2026-11-28", "The means over the seeds decided.", why, f"committed: {verdicts}")


UNWARMED = Change(
    "2026-11-21",
    "Runs that ended within their warm-up were judged.",
    "They say nothing of it. It was changed on the day of the first ledger, and was not listed until 2026-11-28. No "
    "verdict of a committed study depends on it.",
)
"""A change that the claims of translation runs share."""
