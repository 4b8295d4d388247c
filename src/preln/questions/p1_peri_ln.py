"""P1: hidden states of Peri-LN in training."""

from __future__ import annotations

from preln.config import RunSettings
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.markdown import rate
from preln.questions.core.traced import Trace, by_settings, over
from preln.theory.report import traces


def findings(evidence: Evidence) -> Findings:
    pre_ln = by_settings(evidence, "pre")
    models = by_settings(evidence, "peri")
    for settings, seeds in models.items():
        of_model = rate(settings.learning_rate) if len(models) > 1 else ""
        peri, pre = ({seed: _growth(trace) for seed, trace in of.items()} for of in (seeds, pre_ln.get(settings, {})))
        of_peri = ", ".join(filter(None, ("Peri-LN", of_model)))
        yield QUESTION.find("growth-of-sums", of_peri, peri, high=2.0, ratio=True)
        yield QUESTION.find("pre-over-peri", of_model, over(pre, peri), low=1.5, ratio=True)


def _growth(trace: Trace[RunSettings]) -> float:
    """The root mean square of what the last decoder layer's norm takes, at the end of the trace over that at
    initialisation."""
    sums = trace.table[traces.of_layer("input_norm", trace.settings, last=True)]
    return float(sums.iloc[-1] / sums.iloc[0])


QUESTION = Question(
    name="p1",
    statement="Peri-LN: hidden states grow by a bounded amount a layer, also in training. Those of Pre-LN swell.",
    source="Kim et al. (2025), arXiv:2502.02732",
    published="in words, of models of up to 3.2 billion parameters",
    how_known="stated",
    rule="In a trace of first updates, the root mean square of the sums behind the last decoder layer ends at no more "
    "than twice what it is at initialisation in Peri-LN. Pre-LN's factor is at least 1.5 times Peri-LN's.",
    written="2026-11-23",
    quantities={
        "growth-of-sums": "growth of the last sums over the updates of a trace",
        "pre-over-peri": "growth of the last sums, Pre-LN over Peri-LN",
    },
    findings=findings,
)
