"""What README.md says in numbers."""

from __future__ import annotations

from docs.committed import final
from tests.page_numbers.records import (
    GUESSES,
    QUICK,
    Numbers,
    ahead_at_the_papers_size,
    bleu,
    closed,
    radam_in_pre_behind,
    timed_to,
)


def both(study: str, run: str) -> list[float]:
    return [final(study, run), bleu(study, run)]


SAID: list[tuple[str, Numbers]] = [
    ("is {:.2f} ± {:.2f} bits ahead of Post-LN", lambda: list(ahead_at_the_papers_size("valid_loss"))),
    ("Row 5: updates until {:.2f} bits; one seed.", timed_to),
    ("Pre-LN: {:.2f} ± {:.2f} bits above Adam.", radam_in_pre_behind),
    ("RAdam closes {:.0f} ± {:.0f}% of the gap", lambda: list(closed())),
    ("none | {:.2f} | {:.1f} | | Post", lambda: both(QUICK, "post-adam-lr2e-3-wu0-hold400")),
    ("400 updates | {:.2f} | {:.1f}", lambda: both(QUICK, "post-adam-lr2e-3-wu400-hold400")),
    (
        "Pre-LN, Adam at 2e-3, ×0.1 after epoch 2 | none | {:.2f} | {:.1f}",
        lambda: both(QUICK, "pre-adam-lr2e-3-const-drop2"),
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# Versions of Python and of a licence; the drop of a rate.
ELSEWHERE = f"{GUESSES} 3.11 3.13 3.0 0.1"
"""Its other numbers, which no record has."""
