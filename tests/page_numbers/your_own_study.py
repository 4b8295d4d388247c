"""What docs/your-own-study.md says in numbers."""

from __future__ import annotations

from docs.committed import RESULTS, study_of
from preln.recording import METRICS
from preln.runs import expand
from tests.page_numbers.records import Numbers


def made(name: str) -> list[float]:
    """How many translation runs of a study of config/ are committed, and how many it has."""
    runs = expand(study_of(name))
    return [sum((RESULTS / name / run.folder / METRICS).exists() for run in runs), len(runs)]


SAID: list[tuple[str, Numbers]] = [
    ("three or more at a time; {:.0f} of {:.0f} runs made", lambda: made("iwslt14-50k-scaled")),
    ("40 hours of one core; {:.0f} of {:.0f} runs made", lambda: made("confounds")),
]
"""Its sentences, with what the records have in the place of the numbers."""

# Versions of Snakemake.
ELSEWHERE = "9.19 9.27"
"""Its other numbers, which no record has."""
