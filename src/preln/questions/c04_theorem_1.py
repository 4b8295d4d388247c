"""C4: how theorem 1 lets the last layer's gradient depend on depth and width."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question


def findings(evidence: Evidence) -> Findings:
    for part in QUESTION.quantities:
        yield from QUESTION.measured(part, evidence.rows(part), margin=0.1)


QUESTION = Question(
    name="c04",
    statement="Theorem 1: the last layer's gradient is bounded by d sqrt(ln d) in Post-LN, whatever the depth L, and "
    "by d sqrt(ln d / L) in Pre-LN. (We ask that it depends on the depth as these bounds do.)",
    source="Theorem 1",
    published="bounds with exponents of L of 0 and -1/2; of d, that of d sqrt(ln d)",
    how_known="printed",
    rule="In the model of the proofs at initialisation, the exponent of the depth is within 0.1 of 0 in Post-LN and of "
    "-1/2 in Pre-LN, and that of the width at most 0.1 above the bound's. The width's bound is loose: half of it is "
    "measured with embeddings of variance 1/d.",
    written="2026-11-21",
    quantities={
        "depth-exponent": "exponent of the depth in the last layer's gradient",
        "width-exponent": "exponent of the width, embeddings of variance 1/d",
        "width-exponent-unit": "exponent of the width, embeddings of variance 1",
    },
    findings=findings,
)
