"""C13: where Pre-LN without a warm-up ends."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import BLEU, LONGEST, NONE, SCHEDULE, difference, pairs

RUNS = {"placement": "pre", "optimizer": "adam", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    for of, pre, post in pairs(evidence.translated(), RUNS, SCHEDULE, placement="post", warmup=LONGEST):
        yield QUESTION.find("last-loss", of, difference(pre, post, settled=0.15), high=0.1)


def values(evidence: Evidence) -> Findings:
    yield from QUESTION.ends("bleu", evidence.translated(BLEU), RUNS, low=33.0, high=35.0)
    yield from QUESTION.ends("loss", evidence.translated(), RUNS, low=3.9, high=4.1)


QUESTION = Question(
    name="c13",
    statement="Pre-LN without warm-up ends no worse than Post-LN with warm-up.",
    source="Section 4.1, figure 4(a, b)",
    published="BLEU around 34 and validation loss around 4 for both",
    how_known="stated",
    rule="At the same peak rate, Pre-LN's last loss is at most 0.1 bits above that of Post-LN with the longest "
    "warm-up. Nothing is decided while one of the two still changes by more than 0.15 bits in the last fifth of its "
    "epochs. The schedules differ as in the paper: Pre-LN's rate drops, Post-LN's does not.",
    conditions="It is judged in translation alone. In annealed language models, each at its best rate, Pre-LN without "
    "a warm-up ends above Post-LN with one; no rule asks this.",
    written="2026-11-21",
    quantities={"last-loss": "last loss of Pre-LN minus that of Post-LN, bits a token"},
    findings=findings,
    values=values,
)
