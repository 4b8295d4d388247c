"""What docs/your-own-study.md says in numbers."""

from __future__ import annotations

from tests.page_numbers.records import Numbers

SAID: list[tuple[str, Numbers]] = []
"""Its sentences, with what the records have in the place of the numbers."""

# Versions of Snakemake.
ELSEWHERE = "9.19 9.27"
"""Its other numbers, which no record has."""
