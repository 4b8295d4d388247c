"""C15: RAdam without a warm-up."""

from __future__ import annotations

from typing import Any

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import DECAY, LONGEST, NONE, SCHEDULE, Series, difference, pairs, partner, share

RATE = 5e-4
"""The paper's rate."""
POST = {"placement": "post", "optimizer": "radam", "warmup": NONE}
ADAM: dict[str, Any] = {"optimizer": "adam", "schedule": "inverse-sqrt"}
DIFFER = (*DECAY, "decay_updates")


def findings(evidence: Evidence) -> Findings:
    runs = evidence.translated()
    for of, radam, without in pairs(runs, POST, DIFFER, **ADAM):
        if longest := partner(runs, radam, POST, DIFFER, **ADAM, warmup=LONGEST):
            closed = share(radam, without, longest)
            yield QUESTION.find("gap-closed", of, closed, low=0.5, beside=_beside(radam))
    for of, radam, adam in pairs(runs, POST | {"placement": "pre"}, (*SCHEDULE, "decay_updates"), optimizer="adam"):
        apart = difference(radam, adam)
        yield QUESTION.find("difference-in-pre", of, apart, low=-0.15, high=0.15, beside=_beside(radam))


def _beside(radam: Series) -> str:
    return "" if radam.settings["learning_rate"] == RATE else "the paper has no RAdam at this rate"


QUESTION = Question(
    name="c15",
    statement="RAdam without warm-up helps Post-LN, and makes no difference to Pre-LN.",
    source="Section 4.1, figure 4(a, b)",
    published="in words; in figure 4(b), Post-LN with RAdam ends at BLEU 32.1",
    how_known="digitised",
    rule="At the paper's rate, 5e-4, RAdam closes at least half of the gap in loss between Adam without and with the "
    "longest warm-up in Post-LN, and is within 0.15 bits of Adam in Pre-LN. Losses are capped at the unigram baseline. "
    "A study without RAdam at 5e-4 does not test it; what it has at other rates is listed beside the verdict.",
    conditions="β2 probably decides: at the paper's size RAdam fails with 0.98 (on a GPU) and follows the paper's "
    "curve with 0.999 (on a CPU). The paper does not say which it used.",
    written="2026-11-21",
    quantities={
        "gap-closed": "share of the gap between Adam without and with a warm-up that RAdam closes in Post-LN",
        "difference-in-pre": "loss of RAdam minus that of Adam in Pre-LN, bits a token",
    },
    findings=findings,
)
