"""P4: how even the gradients of Mix-LN's layers are."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.libraries import pd
from preln.questions.base import Finding, Question
from preln.questions.core.changes import ledger
from preln.questions.core.evidence import Evidence
from preln.questions.core.traced import over
from preln.theory.measurements import INITIAL
from preln.theory.report.records import expected_gradients

DEEP_ENOUGH = 8
"""Layers of a stack of Mix-LN in which two are Post-LN."""


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The largest gradient of W^2 of a decoder layer over the smallest, in Mix-LN over Post-LN and Pre-LN, in
    translation models at the smallest depth of those that are deep enough."""
    for study in evidence.studies:
        norms = expected_gradients(study.measurements.table)
        norms = norms[(norms["matrix"] == "W2") & (norms["stack"] == "decoder") & (norms["depth"] >= DEEP_ENOUGH)]
        norms = norms[(norms["variant"] == "") & (norms["state"] == INITIAL)]
        norms = norms[norms["depth"] == norms["depth"].min()]
        mix = _spreads(norms, "mix-ln")
        for name in ("post", "pre"):
            other = _spreads(norms, name)
            if mix and other:
                yield QUESTION.find(f"spread-over-{name}", "", over(mix, other), high=1.0, ratio=True)


def _spreads(norms: pd.DataFrame, placement: str) -> dict[int, float]:
    """The largest value of each seed over its smallest."""
    of_placement = norms[norms["placement"] == placement]
    return {
        int(str(seed)): float(mine["value"].max() / mine["value"].min()) for seed, mine in of_placement.groupby("seed")
    }


QUESTION = Question(
    name="p4",
    statement="Mix-LN: its gradients differ less between the layers than those of Post-LN and of Pre-LN.",
    source="Li et al. (2025), arXiv:2412.13795",
    published="in words; perplexity of 130 and 250 million parameters 26.07 and 21.39, of Pre-LN 26.73 and 21.92 (by "
    "Sun et al., 2025)",
    how_known="printed",
    rule="In translation models at initialisation, the largest gradient of a decoder layer's W^2 over the smallest "
    "is no larger than in Post-LN and in Pre-LN. The models have the smallest depth of those of eight layers or "
    "more, for with fewer layers only one is Post-LN.",
    written=datetime.date(2026, 11, 23),
    quantities={
        "spread-over-post": "largest over smallest gradient of W^2 of a decoder layer, Mix-LN over Post-LN",
        "spread-over-pre": "largest over smallest gradient of W^2 of a decoder layer, Mix-LN over Pre-LN",
    },
    findings=findings,
    changes=(ledger("placements: inconclusive (1 of 2) → undecided (1 of 2)"),),
)
