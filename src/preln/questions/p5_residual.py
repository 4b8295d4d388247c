"""P5: the gradient of ResiDual's lower layers."""

from __future__ import annotations

from preln.libraries import pd
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.traced import over
from preln.report.core.records import having
from preln.theory.report.records import growth, profile


def findings(evidence: Evidence) -> Findings:
    for study in evidence.studies:
        layers = profile(study.measurements.table)
        norms = having(layers, quantity="gradient_norm", variant="", matrix="W2", stack="decoder")
        # Within a single layer nothing grows.
        norms = norms[norms["depth"] > 1]
        residual, post = (_growth(having(norms, placement=name)) for name in ("resi-dual", "post"))
        yield QUESTION.find("growth", "ResiDual", residual, high=1.1, ratio=True)
        yield QUESTION.find("post-over-residual", "", over(post, residual), low=1.1, ratio=True)


def _growth(norms: pd.DataFrame) -> dict[int, float]:
    return {int(str(seed)): factor for seed, of_seed in norms.groupby("seed") for factor in growth(of_seed)}


QUESTION = Question(
    name="p5",
    statement="ResiDual: the gradient of the lower layers does not vanish as in Post-LN.",
    source="Xie et al. (2023), arXiv:2304.14802",
    published="in words; 12-12 layers on IWSLT14 end at BLEU 36.09, where Post-LN fails (not checked)",
    how_known="unknown",
    rule="In the decoder of the model of the proofs, the gradient of W^2 grows by at most 1.1 a layer towards the "
    "output. In Post-LN it grows by at least 1.1 times as much.",
    written="2026-11-23",
    quantities={
        "growth": "growth of the gradient of W^2 a layer, decoder of the model of the proofs",
        "post-over-residual": "that growth, Post-LN over ResiDual",
    },
    findings=findings,
)
