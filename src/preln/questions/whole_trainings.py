"""How whole trainings at the paper's size end."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from preln.questions.base import Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.groups import Ends, after_epoch, at_end, ends, minus
from preln.questions.core.markdown import each_seed, grid
from preln.questions.core.series import Compared, Sample
from preln.report.core.statistics import share_of_way

COMPARED = 9
"""The epoch of Pre-LN that the paper compares with Post-LN's last of fifteen."""


@dataclass(frozen=True)
class Whole:
    """What the runs differ in, but for the seed."""

    placement: str
    optimizer: str
    warmup: int
    beta2: float = 0.98


PRE, POST = Whole("pre", "adam", 0), Whole("post", "adam", 1333)
RADAM, RADAM_LONG = Whole("post", "radam", 0), Whole("post", "radam", 0, 0.999)
WITHOUT, PRE_RADAM = Whole("post", "adam", 0), Whole("pre", "radam", 0)
MODELS = {
    "Pre-LN, Adam, no warm-up": PRE,
    "Post-LN, Adam, warm-up of 1,333": POST,
    "Pre-LN, RAdam": PRE_RADAM,
    "Post-LN, RAdam": RADAM,
    "Post-LN, RAdam, β2 = 0.999": RADAM_LONG,
    "Post-LN, Adam, no warm-up": WITHOUT,
}


def model_of(settings: Mapping[str, Any]) -> Whole | None:
    """Which of the models a run is: of the paper's width and its fifteen epochs."""
    whole = Whole(settings["placement"], settings["optimizer"], settings["warmup"], settings["beta2"])
    is_whole = settings["width"] == 512 and settings["epochs"] >= 15 and settings["learning_rate"] == 5e-4
    return whole if is_whole and whole in MODELS.values() else None


def lowest(sample: Sample) -> float:
    """The best number of a run that did not diverge."""
    if len(sample.values) < sample.epochs:
        return sample.worst
    return min(sample.values) if sample.lower_is_better else max(sample.values)


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Where Pre-LN ends, what β2 does to RAdam in Post-LN, and what RAdam does in Pre-LN."""
    last, best = ends(evidence, model_of), ends(evidence, model_of, lowest)
    if PRE in best and POST in best:
        yield QUESTION.find("ends-no-worse", "", minus(best[PRE], best[POST]), high=0.1)
    for part, radam in (("closes-half-0.98", RADAM), ("closes-half-0.999", RADAM_LONG)):
        if {radam, WITHOUT, POST} <= last.keys():
            yield QUESTION.find(part, "", _shares(last[radam], last[WITHOUT], last[POST]), low=0.5)
    if PRE in last and PRE_RADAM in last:
        yield QUESTION.find("radam-in-pre", "", minus(last[PRE_RADAM], last[PRE]), low=-0.15, high=0.15)


def _shares(one: Ends, start: Ends, end: Ends) -> Compared:
    seeds = sorted(one.loss.keys() & start.loss.keys() & end.loss.keys())
    shares = [share_of_way(-one.capped[seed], -start.capped[seed], -end.capped[seed]) for seed in seeds]
    return Compared(tuple(shares))


def table(evidence: Evidence) -> str:
    """The runs after the compared epoch, where their loss was lowest, and at their end."""
    compared, best, last = (ends(evidence, model_of, read) for read in (after_epoch(COMPARED), lowest, at_end))
    rows = [
        (name, *each_seed(compared[one]), each_seed(best[one])[0], *each_seed(last[one]))
        for name, one in MODELS.items()
        if one in last
    ]
    after = f"after epoch {COMPARED}"
    return grid(["", f"loss {after}", f"BLEU {after}", "lowest loss", "loss at the end", "BLEU at the end"], rows)


QUESTION = Question(
    name="whole-trainings",
    statement="Do whole trainings at the paper's size, on a third of its text, end as the paper's do?",
    source="our own; section 4.1 of the paper",
    published="both end at BLEU around 34; RAdam in Post-LN at 32.1",
    how_known="digitised",
    rule="Fifteen epochs at width 512. Pre-LN ends no worse if its lowest loss is at most 0.1 bits above Post-LN's. "
    "β2 decides to the end whether RAdam trains Post-LN if RAdam closes half of Adam's gap with 0.999 and not with "
    "0.98. RAdam makes no difference to Pre-LN within 0.15 bits. Post-LN's rate does not anneal, and Pre-LN's drops.",
    written=datetime.date(2026, 11, 27),
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
