"""C9: Post-LN without a warm-up."""

from __future__ import annotations

from preln.questions.base import Change, Findings, Question
from preln.questions.core.changes import UNWARMED, ledger
from preln.questions.core.evidence import Evidence
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
    "hold`). If the rate decays from the first update on, the loss is that of small rates (erratum 6). At half the "
    "paper's width with 4,096 tokens an update, Post-LN trains without a warm-up at 5e-4.",
    written="2026-11-21",
    quantities={"loss-without-warmup": "loss without a warm-up minus loss with the longest one, bits a token"},
    findings=findings,
    values=values,
    changes=(
        UNWARMED,
        Change(
            "2026-11-21",
            "The statement was that Adam does not train Post-LN well without a warm-up.",
            "The rule asks for far worse. The words were changed on the day of the first ledger, and not listed until "
            "2026-11-28; the rule did not change.",
        ),
        Change(
            "2026-11-23",
            "The run ends at least 0.5 bits above the run with the longest warm-up, whatever the sums of rates.",
            "Without a warm-up and with a decay from the first update on, the rates sum to much less. The run with the "
            "warm-up is now read where its rates have summed to as much. If that is before its first checkpoint, "
            "nothing is decided.",
            "quick: reproduced → reproduced; iwslt14-cpu: reproduced → inconclusive (2 of 4); iwslt14-50k-cpu: "
            "reproduced → reproduced",
        ),
        Change(
            "2026-11-26",
            "The longest warm-up was that of the runs that are alike in all else.",
            "In `confounds`, runs without a warm-up were so compared with a short one, since its runs with the long "
            "one have other settings. The longest is of all the study's runs with this placement, optimiser, schedule "
            "and rate now. The rule was changed after its result was known, and in favour of the claim.",
            "confounds: no (0 of 2) → not tested",
        ),
        ledger(
            "confounds: no (0 of 1) → points the other way (0 of 1); iwslt14-50k-cpu: reproduced → points that way (2 "
            "of 2); iwslt14-cpu: inconclusive (2 of 4) → undecided (2 of 4); quick-record: reproduced → points that "
            "way (2 of 2); small-causes: reproduced → holds (1 of 1)",
            also="The settings for which it was found to hold are listed with the claim.",
        ),
    ),
)
