"""C16: Pre-LN on WMT14."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import LONGEST, NONE, SCHEDULE, difference, pairs

RUNS = {"source": "wmt14", "placement": "pre", "optimizer": "adam", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    runs = evidence.translated()
    for part, rate in (("at-7e-4", 7e-4), ("at-1.5e-3", 1.5e-3)):
        at_rate = RUNS | {"learning_rate": rate}
        for of, pre, post in pairs(runs, at_rate, SCHEDULE, placement="post", warmup=LONGEST):
            yield QUESTION.find(part, of, difference(pre, post), high=0.1)


QUESTION = Question(
    name="c16",
    statement="On WMT14 En-De, Pre-LN without warm-up ends no worse than Post-LN with warm-up, at 7e-4 and at 1.5e-3.",
    source="Section 4.1, figure 4(c, d)",
    published="in words; no number could be recovered from the curves",
    how_known="unknown",
    rule="On a corpus whose source is wmt14, at each of the two rates, Pre-LN's last loss is at most 0.1 bits above "
    "that of Post-LN with the longest warm-up.",
    written="2026-11-22",
    quantities={
        "at-7e-4": "last loss of Pre-LN minus that of Post-LN at 7e-4",
        "at-1.5e-3": "last loss of Pre-LN minus that of Post-LN at 1.5e-3",
    },
    findings=findings,
)
