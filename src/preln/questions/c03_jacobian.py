"""C3: LayerNorm's Jacobian is as large as its input is small."""

from __future__ import annotations

from preln.questions.base import Question

QUESTION: Question = Question(
    name="c03",
    statement="Lemma 3: the spectral norm of LayerNorm's Jacobian is of the order of sqrt(d)/‖x‖.",
    source="Lemma 3",
    published="O(sqrt(d)/‖x‖)",
    how_known="printed",
    rule="In the model of the proofs, the norm is within 0.01 of sqrt(d)/‖y‖ in each stack of Post-LN and Pre-LN. This "
    "checks our code, and is not counted as a claim.",
    written="2026-11-21",
    quantities={"jacobian-norm": "‖J‖ over sqrt(d)/‖y‖"},
    findings=lambda evidence: QUESTION.measured("jacobian-norm", evidence.rows("jacobian-norm"), margin=0.01),
    counts=False,
)
