"""C10: a warm-up that is too short."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.questions.base import Change, Finding, Question
from preln.questions.core.changes import UNWARMED, ledger
from preln.questions.core.evidence import Evidence
from preln.questions.core.series import HIGHER, LONGEST, LOWER, SHORT, difference, partner, telling, where

RUNS = {"placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt", "warmup": SHORT}
PAPERS = {"placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt", "warmup": 500}


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The short warm-up beside the longest, at the higher rate at an equal sum of rates, and at lower ones."""
    every = evidence.translated()
    for part, rate, bounds in (("at-the-higher-rate", HIGHER, {"low": 0.5}), ("at-a-lower-rate", LOWER, {"high": 0.5})):
        wanted = RUNS | {"learning_rate": rate}
        chosen = where(every, **wanted)
        for one in chosen:
            longest = partner(every, one, wanted, ("anchor", "decay_period"), warmup=LONGEST)
            if longest:
                compared = difference(one, longest, equal_rates=rate == HIGHER)
                yield QUESTION.find(part, telling(one, chosen), compared, **bounds)


def values(evidence: Evidence) -> Iterator[Finding]:
    """The paper's BLEU at both rates; where it leaves the anchor open, any run may have it."""
    every = evidence.translated("test_bleu")
    for part, rate, low, high in (("bleu-at-5e-4", 5e-4, 30.16, 32.16), ("bleu-at-1e-3", 1e-3, 1.77, 3.77)):
        yield from QUESTION.nearest(
            QUESTION.find(part, telling(one, every), one.values(), low=low, high=high)
            for one in where(every, **PAPERS, learning_rate=rate)
        )


QUESTION = Question(
    name="c10",
    statement="The length of the warm-up matters: with one that is too short, training at the higher rate fails.",
    source="Section 3.2, figure 2(a)",
    published="with 500 updates BLEU 31.16 at 5e-4 and 2.77 at 1e-3",
    how_known="printed",
    rule="At the higher of a study's rates, the short warm-up ends at least 0.5 bits above the longest, read where "
    "the sums of their rates are equal. At a lower rate it ends at most 0.5 bits above it: the paper's 31.16.",
    written=datetime.date(2026, 11, 21),
    quantities={
        "at-the-higher-rate": "loss with a short warm-up minus loss with the longest one, higher rate",
        "at-a-lower-rate": "loss with a short warm-up minus loss with the longest one, lower rate",
    },
    findings=findings,
    values=values,
    changes=(
        UNWARMED,
        Change(
            datetime.date(2026, 11, 23),
            "At the highest rate, at least 0.5 bits above the longest warm-up. Nothing was asked at a lower rate.",
            "The old rule left out the paper's 31.16. Now the short warm-up at a lower rate must end no more than "
            "0.5 bits above the longest. At the highest rate the sums of rates are made equal, as in C9.",
            "quick: reproduced → inconclusive; iwslt14-cpu: reproduced → inconclusive; iwslt14-50k-cpu: reproduced → "
            "inconclusive",
        ),
        Change(
            datetime.date(2026, 11, 26),
            "The highest rate was that of the runs with a short warm-up, also where it was their only one.",
            "In `confounds`, the short warm-up has the paper's lower rate alone, and was asked to fail at it. The "
            "higher rate is of all the study's runs with this placement, optimiser and schedule now, and where they "
            "have one rate there is none. The rule was changed after its result was known, and in favour of the "
            "claim.",
            "confounds: no (0 of 1) → inconclusive",
        ),
        ledger(
            "confounds: inconclusive → undecided (1 of 1); iwslt14-50k-cpu: inconclusive (1 of 2) → undecided (1 of "
            "2); iwslt14-cpu: inconclusive → undecided (1 of 1); quick-record: inconclusive → undecided (1 of 1)"
        ),
    ),
)
