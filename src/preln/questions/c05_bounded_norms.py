"""C5: few hidden states are much larger than the others."""

from __future__ import annotations

from preln.questions.base import Question

QUESTION: Question = Question(
    name="c05",
    statement="The norms of hidden states are (0.1, 0.125)-bounded: at most 12.5% are more than 10% above their mean. "
    "(We measure squared norms, of which theorem 1 asks this.)",
    source="Definition 1, section 3.3",
    published="0.125 at most",
    how_known="printed",
    rule="In translation models at initialisation, at most 12.5% of the squared norms behind the last layer are more "
    'than 10% above their mean, for each initialisation that was measured. The paper says "norms", and not how the '
    "weights are drawn.",
    written="2026-11-21",
    quantities={"excess-share": "share of squared norms above 1.1 of their mean, last layer"},
    findings=lambda evidence: QUESTION.measured(
        "excess-share", evidence.rows("excess-share", of="translation"), margin=0.0
    ),
)
