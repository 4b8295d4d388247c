"""C7: the gradients of figure 3 in the decoders of translation models."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question

DECODERS = {"of": "translation", "stack": "decoder"}


def findings(evidence: Evidence) -> Findings:
    post, pre = (evidence.unbiased("growth", placement=name, **DECODERS) for name in ("post", "pre"))
    yield from QUESTION.measured("growth-post", post, low=1.29, ratio=True)
    yield from QUESTION.measured("growth-pre", pre, high=1.0, ratio=True)
    after = evidence.unbiased("collapse", placement="post", **DECODERS)
    yield from QUESTION.measured("collapse", after, high=0.1, ratio=True)


def values(evidence: Evidence) -> Findings:
    return QUESTION.measured("over-the-papers", evidence.rows("over-the-papers"), margin=0.1, ratio=True)


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
)
