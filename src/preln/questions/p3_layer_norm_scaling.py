"""P3: the variance of hidden states with LayerNorm scaling."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.traced import over
from preln.report.core.records import having
from preln.theory.report.records import profile


def findings(evidence: Evidence) -> Findings:
    for study in evidence.studies:
        layers = profile(study.measurements.table)
        sums = having(layers, quantity="square_norm", layer=layers["depth"])
        for stack in ("encoder", "decoder"):
            models = (having(sums, stack=stack, placement=name) for name in ("lns", "pre"))
            scaled, pre = (dict(zip(model["seed"], model["value"], strict=True)) for model in models)
            yield QUESTION.find("square-norm-over-pre", stack, over(scaled, pre), high=0.7, ratio=True)


QUESTION = Question(
    name="p3",
    statement="LayerNorm scaling: the variance of the hidden states grows less with the depth than in Pre-LN.",
    source="Sun et al. (2025), arXiv:2502.05795",
    published="in words; perplexity of 130, 250, 350 and 1,000 million parameters 25.76, 20.35, 18.20 and 15.71, of "
    "Pre-LN 26.73, 21.92, 19.58 and 17.02",
    how_known="printed",
    rule="In the model of the proofs at initialisation, E‖x‖^2 / d behind the last layer is at most 0.7 times "
    "Pre-LN's, in both stacks.",
    written="2026-11-23",
    quantities={"square-norm-over-pre": "E‖x‖^2 / d behind the last layer, LayerNorm scaling over Pre-LN"},
    findings=findings,
)
