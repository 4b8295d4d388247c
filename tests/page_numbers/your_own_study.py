"""What docs/your-own-study.md says in numbers."""

from __future__ import annotations

from tests.page_numbers.records import Numbers, made

SAID: list[tuple[str, Numbers]] = [
    ("three or more at a time; {:.0f} of {:.0f} runs made", lambda: made("iwslt14-50k-scaled")),
]
"""Its sentences, with what the records have in the place of the numbers."""

# Versions of Snakemake.
ELSEWHERE = "9.19 9.27"
"""Its other numbers, which no record has."""
