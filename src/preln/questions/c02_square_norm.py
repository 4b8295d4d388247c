"""C2: hidden states keep their size in Post-LN and grow with the layer in Pre-LN."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question


def findings(evidence: Evidence) -> Findings:
    rows = evidence.rows("square-norm")
    by_layer = [row | {"model": f"{row['model']}, {row['quantity'].split(', ')[-1]}"} for row in rows]
    return QUESTION.measured("square-norm", by_layer, margin=0.045)


QUESTION = Question(
    name="c02",
    statement="Lemma 2: at initialisation E‖x‖^2 is 3d/2 in Post-LN, and grows with the layer in Pre-LN, within "
    "bounds.",
    source="Lemma 2",
    published="1.5 for E‖x‖^2 / d in Post-LN; from 1 + l/2 to 1 + 3l/2 in Pre-LN",
    how_known="printed",
    rule="In the model of the proofs at initialisation, E‖x‖^2 / d is within 0.045 of the lemma's value or range, in "
    "each stack of Post-LN and Pre-LN. This checks our code, and is not counted as a claim.",
    written="2026-11-21",
    quantities={"square-norm": "E‖x‖^2 / d"},
    findings=findings,
    counts=False,
)
