"""C19: whether Pre-LN gains from a warm-up."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import DECAY, NONE, SOME, difference, pairs

RUNS = {"placement": "pre", "optimizer": "adam", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    for of, without, best in pairs(evidence.translated(), RUNS, DECAY, warmup=SOME):
        yield QUESTION.find("loss-without-warmup", of, difference(without, best), high=0.05)


QUESTION = Question(
    name="c19",
    statement="Pre-LN gains nothing from a warm-up: without one it ends no worse, at the same rate and schedule.",
    source="Section 4.1",
    published="in words: the warm-up is not critical any more for Pre-LN, and can be left out",
    how_known="stated",
    rule="At each peak rate and schedule at which a study has both, Pre-LN's last loss without a warm-up is at most "
    "0.05 bits above the best one with a warm-up. A run at the unigram baseline has learned nothing; where neither "
    "learns, nothing is decided. The rule was written after the results that it reads were known.",
    conditions="It is judged in translation alone. Annealed language models gain from one at Pre-LN's best rate: see "
    "the bench of language models.",
    written="2026-11-28",
    quantities={"loss-without-warmup": "last loss of Pre-LN without a warm-up minus that with its best one"},
    findings=findings,
)
