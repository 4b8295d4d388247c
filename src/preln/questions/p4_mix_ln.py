"""P4: how even the gradients of Mix-LN's layers are."""

from __future__ import annotations

from preln.libraries import pd
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.traced import over
from preln.report.core.records import having
from preln.theory.measurements import INITIAL
from preln.theory.report.records import expected_gradients

DEEP_ENOUGH = 8
"""Layers of a stack of Mix-LN in which two are Post-LN."""


def findings(evidence: Evidence) -> Findings:
    for study in evidence.studies:
        norms = having(expected_gradients(study.measurements.table), model="translation", variant="", state=INITIAL)
        norms = having(norms[norms["depth"] >= DEEP_ENOUGH], matrix="W2", stack="decoder")
        norms = having(norms, depth=norms["depth"].min())
        mix, post, pre = (_spreads(having(norms, placement=name)) for name in ("mix-ln", "post", "pre"))
        yield QUESTION.find("spread-over-post", "", over(mix, post), high=1.0, ratio=True)
        yield QUESTION.find("spread-over-pre", "", over(mix, pre), high=1.0, ratio=True)


def _spreads(norms: pd.DataFrame) -> dict[int, float]:
    return {int(str(seed)): float(of["value"].max() / of["value"].min()) for seed, of in norms.groupby("seed")}


QUESTION = Question(
    name="p4",
    statement="Mix-LN: its gradients differ less between the layers than those of Post-LN and of Pre-LN.",
    source="Li et al. (2025), arXiv:2412.13795",
    published="in words; perplexity of 130 and 250 million parameters 26.07 and 21.39, of Pre-LN 26.73 and 21.92 (by "
    "Sun et al., 2025)",
    how_known="printed",
    rule="In translation models at initialisation, the largest gradient of a decoder layer's W^2 over the smallest is "
    "no larger than in Post-LN and in Pre-LN. The models have the smallest depth of those of eight layers or more, for "
    "with fewer layers only one is Post-LN.",
    written="2026-11-23",
    quantities={
        "spread-over-post": "largest over smallest gradient of W^2 of a decoder layer, Mix-LN over Post-LN",
        "spread-over-pre": "largest over smallest gradient of W^2 of a decoder layer, Mix-LN over Pre-LN",
    },
    findings=findings,
)
