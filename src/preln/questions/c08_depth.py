"""C8: how the last layer's gradient changes with the depth of translation models."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question


def findings(evidence: Evidence) -> Findings:
    post, pre = (evidence.rows("last-depth-exponent", placement=name) for name in ("post", "pre"))
    yield from QUESTION.measured("exponent-post", post, low=-0.1, high=0.1)
    yield from QUESTION.measured("exponent-pre", pre, high=-0.3)


def values(evidence: Evidence) -> Findings:
    rows = evidence.rows("last-depth-mean", placement="post")
    return QUESTION.measured("mean-over-depths", rows, low=1.44, high=1.76)


QUESTION = Question(
    name="c08",
    statement="The last layer's gradient stays as large with more layers in Post-LN, and falls in Pre-LN.",
    source="Figure 3(c, d)",
    published="around 1.6 at every depth in Post-LN; in Pre-LN it decreases; by how much could not be recovered",
    how_known="stated",
    rule="In translation models at initialisation, the exponent of the depth in the gradient of the last decoder "
    "layer's W^2 is from -0.1 to 0.1 in Post-LN, and at most -0.3 in Pre-LN. Only the direction of Pre-LN's is asked: "
    "theorem 1's -1/2 is what the model of the proofs has, and trained settings fall faster.",
    written="2026-11-21",
    quantities={
        "exponent-post": "exponent of the depth in the last gradient of W^2, Post-LN",
        "exponent-pre": "exponent of the depth in the last gradient of W^2, Pre-LN",
    },
    findings=findings,
    values=values,
)
