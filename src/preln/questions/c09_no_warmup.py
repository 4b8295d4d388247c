"""C9: Post-LN without a warm-up."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.questions.base import Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.series import LONGEST, NONE, difference, partner, telling, where

RUNS = {"placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt", "warmup": NONE}


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The loss of each run without a warm-up, minus that of the longest warm-up at an equal sum of rates."""
    every = evidence.translated()
    chosen = where(every, **RUNS)
    for one in chosen:
        warmed_up = partner(every, one, RUNS, ("anchor", "decay_period"), warmup=LONGEST)
        if warmed_up:
            compared = difference(one, warmed_up, equal_rates=True)
            yield QUESTION.find("loss-without-warmup", telling(one, chosen), compared, low=0.5)


def values(evidence: Evidence) -> Iterator[Finding]:
    """The paper's BLEU. It does not say at which rate it was, nor how the decay was anchored: any run may have it."""
    every = evidence.translated("test_bleu")
    for part, warmup, low, high in (("bleu-without", NONE, 7.45, 9.45), ("bleu-with", LONGEST, 33.0, 35.0)):
        yield from QUESTION.nearest(
            QUESTION.find(part, telling(one, every), one.values(), low=low, high=high)
            for one in where(every, **(RUNS | {"warmup": warmup}))
        )


QUESTION = Question(
    name="c09",
    statement="Without warm-up, Adam trains a Post-LN Transformer far worse than with it.",
    source="Section 3.2, figure 2(a)",
    published="BLEU 8.45 without, around 34 with",
    how_known="printed",
    rule="The last validation loss of each run without a warm-up is at least 0.5 bits a token above that of the run "
    "with the longest warm-up of its rate, read where the sums of their rates are equal. If that is before its first "
    "checkpoint, nothing is decided.",
    conditions="It is a claim about a peak rate of 5e-4 and more that is constant until the decay begins (`anchor: "
    "hold`). If the rate decays from the first update on, the loss is that of small rates (erratum 6). At half the "
    "paper's width with 4,096 tokens an update, Post-LN trains without a warm-up at 5e-4.",
    written=datetime.date(2026, 11, 21),
    quantities={"loss-without-warmup": "loss without a warm-up minus loss with the longest one, bits a token"},
    findings=findings,
    values=values,
    # CHANGES
)
