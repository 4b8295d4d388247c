"""P1: hidden states of Peri-LN in training."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.questions.base import Finding, Question
from preln.questions.core.changes import ledger
from preln.questions.core.evidence import Evidence
from preln.questions.core.traced import Trace, by_settings, over
from preln.theory.report import traces


def findings(evidence: Evidence) -> Iterator[Finding]:
    """How the sums behind the last decoder layer grow in the first updates, in Peri-LN and over it in Pre-LN."""
    pre_ln = by_settings(evidence, "pre")
    for settings, peri in by_settings(evidence, "peri").items():
        mine = {seed: _growth(trace) for seed, trace in peri.items()}
        yield QUESTION.find("growth-of-sums", "Peri-LN", mine.values(), high=2.0, ratio=True)
        if settings in pre_ln:
            pre = {seed: _growth(trace) for seed, trace in pre_ln[settings].items()}
            yield QUESTION.find("pre-over-peri", "", over(pre, mine), low=1.5, ratio=True)


def _growth(traced: Trace) -> float:
    """The root mean square of what the last decoder layer's norm takes, at the end of the trace over that at
    initialisation."""
    sums = traced.table[traces.of_layer("input_norm", traced.settings, last=True)]
    return float(sums.iloc[-1] / sums.iloc[0])


QUESTION = Question(
    name="p1",
    statement="Peri-LN: hidden states grow by a bounded amount a layer, also in training. Those of Pre-LN swell.",
    source="Kim et al. (2025), arXiv:2502.02732",
    published="in words, of models of up to 3.2 billion parameters",
    how_known="stated",
    rule="In a trace of first updates, the root mean square of the sums behind the last decoder layer ends at no "
    "more than twice what it is at initialisation in Peri-LN. Pre-LN's factor is at least 1.5 times Peri-LN's.",
    written=datetime.date(2026, 11, 23),
    quantities={
        "growth-of-sums": "growth of the last sums over the updates of a trace",
        "pre-over-peri": "growth of the last sums, Pre-LN over Peri-LN",
    },
    findings=findings,
    changes=(ledger("placements: in part (1 of 2) → holds in part (1 of 2)"),),
)
