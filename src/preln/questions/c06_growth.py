"""C6: how the gradient grows from layer to layer in the model of the proofs."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question


def findings(evidence: Evidence) -> Findings:
    post, pre = (evidence.rows("growth", of="exact", placement=name) for name in ("post", "pre"))
    yield from QUESTION.measured("growth-post", post, low=1.125, ratio=True)
    yield from QUESTION.measured("growth-pre", pre, low=0.85, high=1.15, ratio=True)


QUESTION = Question(
    name="c06",
    statement="Appendix F: towards the output, the gradient grows by a factor of sqrt(3/2) a layer in Post-LN, and "
    "stays about the same in Pre-LN.",
    source="Appendix F",
    published="1.225 a layer in Post-LN, about 1 in Pre-LN",
    how_known="printed",
    rule="In the model of the proofs at initialisation, the gradient of W^2 grows by at least 1.125 a layer in both "
    "stacks of Post-LN: the appendix bounds it from above, so that it may fall faster towards the input. In Pre-LN it "
    "changes by a factor from 0.85 to 1.15 a layer.",
    written="2026-11-21",
    quantities={
        "growth-post": "growth of the gradient of W^2 a layer in Post-LN",
        "growth-pre": "growth of the gradient of W^2 a layer in Pre-LN",
    },
    findings=findings,
)
