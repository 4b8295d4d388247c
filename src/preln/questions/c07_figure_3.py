"""C7: the gradients of figure 3 in the decoders of translation models."""

from __future__ import annotations

from preln.questions.base import Change, Findings, Question
from preln.questions.core.changes import ledger
from preln.questions.core.evidence import Evidence

DECODERS = {"of": "translation", "stack": "decoder"}


def findings(evidence: Evidence) -> Findings:
    post, pre = (evidence.unbiased("growth", placement=name, **DECODERS) for name in ("post", "pre"))
    yield from QUESTION.measured("growth-post", post, low=1.29, ratio=True)
    yield from QUESTION.measured("growth-pre", pre, high=1.0, ratio=True)
    yield from QUESTION.measured("collapse", evidence.unbiased("collapse", **DECODERS), high=0.1, ratio=True)


def values(evidence: Evidence) -> Findings:
    return QUESTION.measured("over-the-papers", evidence.rows("over-the-papers"), margin=0.1)


QUESTION = Question(
    name="c07",
    statement="At initialisation the gradients of Post-LN's decoder grow towards the output and are large there; those "
    "of Pre-LN do not grow. After the warm-up Post-LN's are small.",
    source="Figure 3(a, b)",
    published="Post-LN 0.130 to 1.658 over six layers (1.66 a layer), Pre-LN 0.558 to 0.292 (0.88); 0.015 after "
    "warm-up",
    how_known="digitised",
    rule="In the decoder of translation models, the gradient of W^2 grows by at least 1.29 a layer in Post-LN, half of "
    "the paper's growth in logarithms, and by at most 1 in Pre-LN. After the warm-up, that of the last layer is at "
    "most 0.1 of what it is at initialisation. The unbiased estimate is read where a study has it; one that is not two "
    "standard errors above zero decides nothing.",
    written="2026-11-21",
    quantities={
        "growth-post": "growth of the gradient of W^2 a layer in Post-LN's decoder",
        "growth-pre": "growth of the gradient of W^2 a layer in Pre-LN's decoder",
        "collapse": "last gradient of W^2 after the warm-up over that at initialisation",
    },
    findings=findings,
    values=values,
    changes=(
        Change(
            "2026-11-23",
            "Post-LN's gradient grows by at least 1.1 a layer. After the warm-up it is at most 0.1 of the mean over "
            "all seeds at initialisation, measured by the norm of the mean over mini-batches.",
            "The paper's bars grow by 1.66, so 1.1 was little. Half of that growth, in logarithms, is asked now. The "
            "norm of the mean over mini-batches includes their noise. Where a study has the unbiased estimate, that is "
            "read; elsewhere the row says that it is biased. Each seed is divided by itself at initialisation. The "
            "bound of 0.1 stays. A single seed still decides by its value.",
            "quick: in part (2 of 3) → in part (1 of 3); iwslt14-50k-cpu: in part (2 of 3) → in part (1 of 3); "
            "iwslt14-theory: in part (2 of 3) → in part (1 of 3)",
        ),
        Change(
            "2026-11-26",
            "An unbiased estimate that was not above zero counted as zero, so that the gradient had fallen as far as "
            "is asked.",
            "Noise may hide a gradient that is large. An estimate that is not more than two standard errors above zero "
            "is not known now, and decides nothing. In `small-causes`, which came later, an estimate is so small.",
            "quick: in part (1 of 3) → in part (1 of 3); iwslt14-50k-cpu: in part (1 of 3) → in part (1 of 3); "
            "iwslt14-theory: in part (1 of 3) → in part (1 of 3)",
        ),
        Change(
            "2026-11-27",
            "Each seed was divided by itself at initialisation.",
            "One that was not measured there is divided by the mean of the others. The code did so, and the rule did "
            "not say it. In `paper-epoch` it decided, in favour of the claim: with two seeds alone the interval would "
            "be too wide. The result was known. On 2026-11-28 the third seed was measured there too, and the verdict "
            "stayed.",
            "paper-epoch: in part (1 of 3) → in part (2 of 3)",
        ),
        ledger(
            "confounds: in part (1 of 3) → undecided (1 of 3); iwslt14-50k-cpu: in part (1 of 3) → holds in part (1 of "
            "3); iwslt14-theory: in part (1 of 3) → holds in part (1 of 3); long-warmup: inconclusive (2 of 3) → "
            "undecided (2 of 3); paper-epoch: in part (2 of 3) → holds in part (2 of 3); placements: no (0 of 3) → "
            "holds in part (1 of 3); quick-record: in part (1 of 3) → holds in part (1 of 3); small-causes: in part (1 "
            "of 3) → holds in part (1 of 3)",
        ),
    ),
)
