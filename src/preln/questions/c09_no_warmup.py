"""C9: Post-LN without a warm-up."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import BLEU, DECAY, LONGEST, NONE, difference, pairs

RUNS = {"placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    for of, without, longest in pairs(evidence.translated(), RUNS, DECAY, warmup=LONGEST):
        yield QUESTION.find("loss-without-warmup", of, difference(without, longest, equal_rates=True), low=0.5)


def values(evidence: Evidence) -> Findings:
    """The paper does not say at which rate it was, nor how the decay was anchored: any run may have its BLEU."""
    bleu = evidence.translated(BLEU)
    yield from QUESTION.nearest(QUESTION.ends("bleu-without", bleu, RUNS, low=7.45, high=9.45))
    yield from QUESTION.nearest(QUESTION.ends("bleu-with", bleu, RUNS | {"warmup": LONGEST}, low=33.0, high=35.0))


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
    "hold`). If the rate decays from the first update on, the loss may be that of small rates (erratum 6). At half the "
    "paper's width with 4,096 tokens an update, Post-LN trains without a warm-up at 5e-4, with either initialisation. "
    "The longest warm-up beside it lasts most of the run and has one seed. With fairseq's initialisation and three "
    "seeds, a warm-up of 167 updates lowers the loss; in `annealing`, one of 388 ends as high as none at a constant "
    "rate.",
    written="2026-11-21",
    quantities={"loss-without-warmup": "loss without a warm-up minus loss with the longest one, bits a token"},
    findings=findings,
    values=values,
)
