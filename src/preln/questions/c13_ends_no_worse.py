"""C13: where Pre-LN without a warm-up ends."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.questions.base import Change, Finding, Question
from preln.questions.core.changes import UNWARMED, ledger
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
    changes=(
        UNWARMED,
        Change(
            datetime.date(2026, 11, 21),
            "The statement was that Pre-LN ends where Post-LN does.",
            "The rule asks for no worse: what is better than asked is no failure. The words were changed on the day of "
            "the first ledger, and not listed until 2026-11-28; the rule did not change.",
        ),
        Change(
            datetime.date(2026, 11, 23),
            "Pre-LN's last loss at most 0.1 bits above Post-LN's.",
            "The claim is about where training ends, and the committed runs are far from it: Post-LN's warm-up is a "
            "quarter of them and more. Nothing is decided while one of the two still changes by more than 0.15 bits "
            "in the last fifth of its epochs. What the runs do show belongs to C14.",
            "quick: reproduced → inconclusive (0 of 1); iwslt14-cpu: reproduced → inconclusive (0 of 1); "
            "iwslt14-50k-cpu: reproduced → inconclusive (0 of 2)",
        ),
        Change(
            datetime.date(2026, 11, 26),
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
            "placements: inconclusive (0 of 15) → undecided (0 of 15); quick-record: inconclusive (0 of 1) → "
            "undecided (0 of 1); small-causes: inconclusive (0 of 3) → undecided (0 of 3)"
        ),
    ),
)
