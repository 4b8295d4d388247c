"""What docs/index.md says in numbers."""

from __future__ import annotations

from tests.page_numbers.records import AFTER, BIG, QUICK, THEORY, Numbers, above_the_warm_up, minmax, theory, timed_to


def of_studies(quantity: str, model: str) -> list[float]:
    return [theory(study, quantity, model)[0] for study in (QUICK, BIG, THEORY)]


SAID: list[tuple[str, Numbers]] = [
    ("Row 4 counts the updates until the loss is {:.2f} bits", timed_to),
    ("it ends {:.1f} to {:.1f} bits higher without one", above_the_warm_up),
    (
        "at {:.0f} to {:.0f}% of what it was",
        lambda: minmax(100 * value for value in of_studies(AFTER, "Post-LN decoder, translation")),
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# RAdam's β2.
ELSEWHERE = "0.98 0.999"
"""Its other numbers, which no record has."""
