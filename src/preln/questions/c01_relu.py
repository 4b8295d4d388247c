"""C1: the mean square behind a ReLU is half of that before it."""

from __future__ import annotations

from preln.questions.base import Question

QUESTION: Question = Question(
    name="c01",
    statement="Lemma 1: for a Gaussian vector x of d entries with variance s^2, E‖ReLU(x)‖^2 = s^2 d/2.",
    source="Lemma 1",
    published="0.5 for E‖ReLU(x W^1)‖^2 / d",
    how_known="printed",
    rule="In the model of the proofs at initialisation, E‖ReLU(x W^1)‖^2 / d is within 0.015 of the lemma's value in "
    "each stack of Post-LN and Pre-LN. This checks our code, and is not counted as a claim.",
    written="2026-11-21",
    quantities={"relu-square-norm": "E‖ReLU(x W^1)‖^2 / d"},
    findings=lambda evidence: QUESTION.measured("relu-square-norm", evidence.rows("relu-square-norm"), margin=0.015),
    counts=False,
)
