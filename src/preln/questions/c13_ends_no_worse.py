"""C13: where Pre-LN without a warm-up ends."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.questions.base import Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.series import LONGEST, NONE, SCHEDULE, difference, partner, telling, where

RUNS = {"placement": "pre", "optimizer": "adam", "warmup": NONE}


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The last loss of Pre-LN without a warm-up minus that of Post-LN with the longest, where both are at rest."""
    every = evidence.translated()
    chosen = where(every, **RUNS)
    for one in chosen:
        post = partner(every, one, RUNS, SCHEDULE, placement="post", warmup=LONGEST)
        if post:
            compared = difference(one, post, settled=0.15)
            yield QUESTION.find("last-loss", telling(one, chosen), compared, high=0.1)


def values(evidence: Evidence) -> Iterator[Finding]:
    """The paper's BLEU and loss."""
    for quantity, part, low, high in (("test_bleu", "bleu", 33.0, 35.0), ("valid_loss", "loss", 3.9, 4.1)):
        every = evidence.translated(quantity)
        for one in where(every, **RUNS):
            yield QUESTION.find(part, telling(one, every), one.values(), low=low, high=high)


QUESTION = Question(
    name="c13",
    statement="Pre-LN without warm-up ends no worse than Post-LN with warm-up.",
    source="Section 4.1, figure 4(a, b)",
    published="BLEU around 34 and validation loss around 4 for both",
    how_known="stated",
    rule="At the same peak rate, Pre-LN's last loss is at most 0.1 bits above that of Post-LN with the longest "
    "warm-up. Nothing is decided while one of the two still changes by more than 0.15 bits in the last fifth of its "
    "epochs. The schedules differ as in the paper: Pre-LN's rate drops, Post-LN's does not.",
    written=datetime.date(2026, 11, 21),
    quantities={"last-loss": "last loss of Pre-LN minus that of Post-LN, bits a token"},
    findings=findings,
    values=values,
    # CHANGES
)
