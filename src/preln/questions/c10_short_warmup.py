"""C10: a warm-up that is too short."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import BLEU, DECAY, HIGHER, LONGEST, LOWER, SHORT, difference, pairs

RUNS = {"placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt", "warmup": SHORT}


def findings(evidence: Evidence) -> Findings:
    runs = evidence.translated()
    for of, short, longest in pairs(runs, RUNS | {"learning_rate": HIGHER}, DECAY, warmup=LONGEST):
        yield QUESTION.find("at-the-higher-rate", of, difference(short, longest, equal_rates=True), low=0.5)
    for of, short, longest in pairs(runs, RUNS | {"learning_rate": LOWER}, DECAY, warmup=LONGEST):
        yield QUESTION.find("at-a-lower-rate", of, difference(short, longest), high=0.5)


def values(evidence: Evidence) -> Findings:
    """The paper leaves the anchor open: any run may have its BLEU."""
    for part, rate, low, high in (("bleu-at-5e-4", 5e-4, 30.16, 32.16), ("bleu-at-1e-3", 1e-3, 1.77, 3.77)):
        papers = RUNS | {"warmup": 500, "learning_rate": rate}
        yield from QUESTION.nearest(QUESTION.ends(part, evidence.translated(BLEU), papers, low=low, high=high))


QUESTION = Question(
    name="c10",
    statement="The length of the warm-up matters: with one that is too short, training at the higher rate fails.",
    source="Section 3.2, figure 2(a)",
    published="with 500 updates BLEU 31.16 at 5e-4 and 2.77 at 1e-3",
    how_known="printed",
    rule="At the higher of a study's rates, the short warm-up ends at least 0.5 bits above the longest, read where the "
    "sums of their rates are equal. At a lower rate it ends at most 0.5 bits above it: the paper's 31.16.",
    written="2026-11-21",
    quantities={
        "at-the-higher-rate": "loss with a short warm-up minus loss with the longest one, higher rate",
        "at-a-lower-rate": "loss with a short warm-up minus loss with the longest one, lower rate",
    },
    findings=findings,
    values=values,
)
