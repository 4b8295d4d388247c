"""How whole trainings at the paper's size end."""

from __future__ import annotations

from operator import itemgetter

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core import series
from preln.questions.core.markdown import each_seed, grid

COMPARED = 9
"""The epoch of Pre-LN that the paper compares with Post-LN's last of fifteen."""
PRE, POST = ("pre", "adam", 0, 0.98), ("post", "adam", 1333, 0.98)
RADAM, RADAM_LONG = ("post", "radam", 0, 0.98), ("post", "radam", 0, 0.999)
WITHOUT, PRE_RADAM = ("post", "adam", 0, 0.98), ("pre", "radam", 0, 0.98)
MODELS = {
    PRE: "Pre-LN, Adam, no warm-up",
    POST: "Post-LN, Adam, warm-up of 1,333",
    PRE_RADAM: "Pre-LN, RAdam",
    RADAM: "Post-LN, RAdam",
    RADAM_LONG: "Post-LN, RAdam, β2 = 0.999",
    WITHOUT: "Post-LN, Adam, no warm-up",
}
"""The names of the models, by placement, optimiser, warm-up and β2."""
Model = tuple[str, str, int, float]


def models(
    evidence: Evidence, quantity: str = series.LOSS, read: series.Reader | None = None
) -> dict[Model, series.Series]:
    """The models, at the paper's width and rate, and with its fifteen epochs."""
    whole = [run for run in evidence.runs(quantity) if run.epochs >= 15]
    asked = {"width": 512, "learning_rate": 5e-4}
    return series.grouped(whole, itemgetter("placement", "optimizer", "warmup", "beta2"), asked, read)


def lowest(sample: series.Sample) -> float:
    """The best number of a run that did not diverge."""
    if len(sample.values) < sample.epochs:
        return sample.worst
    return min(sample.values) if sample.lower_is_better else max(sample.values)


def findings(evidence: Evidence) -> Findings:
    last, best = models(evidence), models(evidence, read=lowest)
    yield QUESTION.find("ends-no-worse", "", series.compared(series.difference, best, PRE, POST), high=0.1)
    for part, radam in (("closes-half-0.98", RADAM), ("closes-half-0.999", RADAM_LONG)):
        yield QUESTION.find(part, "", series.compared(series.share, last, radam, WITHOUT, POST), low=0.5)
    yield QUESTION.find(
        "radam-in-pre", "", series.compared(series.difference, last, PRE_RADAM, PRE), low=-0.15, high=0.15
    )


def table(evidence: Evidence) -> str:
    """The runs after the compared epoch, where their loss was lowest, and at their end."""
    early, best, last = (
        each_seed(models(evidence, series.LOSS, read), models(evidence, series.BLEU, read))
        for read in (series.after_epoch(COMPARED), lowest, None)
    )
    rows = [(name, *early[key], best[key][0], *last[key]) for key, name in MODELS.items() if key in last]
    after = f"after epoch {COMPARED}"
    return grid(["", f"loss {after}", f"BLEU {after}", "lowest loss", "loss at the end", "BLEU at the end"], rows)


QUESTION = Question(
    name="whole-trainings",
    statement="Do whole trainings at the paper's size, on a third of its text, end as the paper's do?",
    source="our own; section 4.1 of the paper",
    published="both end at BLEU around 34; RAdam in Post-LN at 32.1",
    how_known="digitised",
    rule="Fifteen epochs at width 512. Pre-LN ends no worse if its lowest loss is at most 0.1 bits above Post-LN's. β2 "
    "decides to the end whether RAdam trains Post-LN if RAdam closes half of Adam's gap with 0.999 and not with 0.98. "
    "RAdam makes no difference to Pre-LN within 0.15 bits. Post-LN's rate does not anneal, and Pre-LN's drops.",
    written="2026-11-27",
    quantities={
        "ends-no-worse": "Pre-LN ends no worse than Post-LN",
        "closes-half-0.98": "RAdam with β2 = 0.98 closes half of Adam's gap in Post-LN",
        "closes-half-0.999": "RAdam with β2 = 0.999 closes half of Adam's gap in Post-LN",
        "radam-in-pre": "RAdam makes no difference to Pre-LN",
    },
    findings=findings,
    table=table,
    reads=("iwslt14-50k-scaled",),
)
