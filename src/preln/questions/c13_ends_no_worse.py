"""C13: where Pre-LN without a warm-up ends."""

from __future__ import annotations

from preln.questions.base import Change, Findings, Question
from preln.questions.core.changes import UNWARMED, ledger
from preln.questions.core.evidence import Evidence
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
    written="2026-11-21",
    quantities={"last-loss": "last loss of Pre-LN minus that of Post-LN, bits a token"},
    findings=findings,
    values=values,
    changes=(
        UNWARMED,
        Change(
            "2026-11-21",
            "The statement was that Pre-LN ends where Post-LN does.",
            "The rule asks for no worse: what is better than asked is no failure. The words were changed on the day of "
            "the first ledger, and not listed until 2026-11-28; the rule did not change.",
        ),
        Change(
            "2026-11-23",
            "Pre-LN's last loss at most 0.1 bits above Post-LN's.",
            "The claim is about where training ends, and the committed runs are far from it: Post-LN's warm-up is a "
            "quarter of them and more. Nothing is decided while one of the two still changes by more than 0.15 bits in "
            "the last fifth of its epochs. What the runs do show belongs to C14.",
            "quick: reproduced → inconclusive (0 of 1); iwslt14-cpu: reproduced → inconclusive (0 of 1); "
            "iwslt14-50k-cpu: reproduced → inconclusive (0 of 2)",
        ),
        Change(
            "2026-11-26",
            "Each rate of Pre-LN was compared with the rate at which Post-LN ends best.",
            "The paper compares the two at the same peak rate. In a sweep of rates, each rate that does not suit "
            "Pre-LN counted against the claim. Equal rates are compared now.",
            "failure-map: inconclusive (0 of 7) → inconclusive (0 of 7); iwslt14-50k-cpu: inconclusive (0 of 2) → "
            "inconclusive (0 of 2); placements: inconclusive (0 of 15) → inconclusive (0 of 15)",
        ),
        ledger(
            "failure-map: inconclusive (0 of 7) → undecided (0 of 7); iwslt14-50k-cpu: inconclusive (0 of 2) → "
            "undecided (0 of 2); iwslt14-50k-scaled: inconclusive (0 of 1) → points that way (1 of 1); iwslt14-cpu: "
            "inconclusive (0 of 1) → undecided (0 of 1); paper-epoch: inconclusive (0 of 1) → undecided (0 of 1); "
            "placements: inconclusive (0 of 15) → undecided (0 of 15); quick-record: inconclusive (0 of 1) → undecided "
            "(0 of 1); small-causes: inconclusive (0 of 3) → undecided (0 of 3)",
        ),
    ),
)
