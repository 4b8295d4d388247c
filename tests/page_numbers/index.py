"""What docs/index.md says in numbers."""

from __future__ import annotations

from tests.page_numbers.records import (
    AFTER,
    BIG,
    QUICK,
    THEORY,
    Numbers,
    above_the_warm_up,
    ahead_at_the_papers_size,
    minmax,
    theory,
    timed_to,
)


def of_studies(quantity: str, model: str) -> list[float]:
    return [theory(study, quantity, model)[0] for study in (QUICK, BIG, THEORY)]


SAID: list[tuple[str, Numbers]] = [
    ("by {:.2f} ± {:.2f} bits (three seeds).", lambda: list(ahead_at_the_papers_size("valid_loss"))),
    ("Row 4 counts the updates until the loss is {:.2f} bits", timed_to),
    ("it ends {:.1f} to {:.1f} bits higher without one", above_the_warm_up),
    (
        "only to {:.0f} to {:.0f}% in the warm-up",
        lambda: minmax(100 * value for value in of_studies(AFTER, "Post-LN decoder, translation")),
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# RAdam's β2.
ELSEWHERE = "0.98 0.999"
"""Its other numbers, which no record has."""
