"""Whether the placement or the schedule decides at half the paper's width."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from preln.placements import PLACEMENTS
from preln.questions.base import Answer, Change, Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.groups import Ends, ends, minus
from preln.questions.core.markdown import each_seed, grid, warm_up
from preln.report.core.statistics import mean

WORDS = {"inverse-sqrt": "inverse square root", "constant": "constant, ×0.1 after epoch 2"}
ASKED = {"optimizer": "adam", "learning_rate": 5e-4, "accumulate": 1, "epochs": 3, "width": 256}


@dataclass(frozen=True)
class Swapped:
    """A placement with one of the two schedules."""

    placement: str
    schedule: str

    @property
    def warmup(self) -> int:
        """Only Pre-LN's own schedule has none."""
        return 0 if self == Swapped("pre", "constant") else 1333


def swapped_of(settings: Mapping[str, Any]) -> Swapped | None:
    """Which it is, by a run's settings; None of another run."""
    run = Swapped(settings["placement"], settings["schedule"])
    asked = all(settings[key] == value for key, value in ASKED.items()) and settings["warmup"] == run.warmup
    return run if asked and run.placement in ("post", "pre") and run.schedule in WORDS else None


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Pre-LN's lead with each schedule, which is to be larger than what the schedule makes within a placement."""
    runs: dict[Swapped, Ends] = ends(evidence, swapped_of)
    if len(runs) < 4:
        return
    within = {
        name: minus(runs[Swapped(name, "constant")], runs[Swapped(name, "inverse-sqrt")]) for name in ("post", "pre")
    }
    size = max(abs(mean(one.values)) for one in within.values())
    for schedule in WORDS:
        lead = minus(runs[Swapped("post", schedule)], runs[Swapped("pre", schedule)])
        yield QUESTION.find("lead", WORDS[schedule], lead, low=size)
    for name, difference in within.items():
        beside = "it is the size that a lead is compared with"
        yield QUESTION.find("schedule", PLACEMENTS[name].label, difference, beside=beside)


def answer(found: Answer) -> list[str]:
    """What decides."""
    if found.holds("lead"):
        return ["the placement"]
    sizes = [abs(one.estimate.mean) for one in found.of("lead")]
    return ["the schedule" if max(sizes) < found.of("lead")[0].low else "both"]


def table(evidence: Evidence) -> str:
    """Each placement with its own schedule and with the other's."""
    runs = ends(evidence, swapped_of)
    order = [Swapped(placement, schedule) for placement in ("post", "pre") for schedule in WORDS]
    rows = [
        (PLACEMENTS[one.placement].label, WORDS[one.schedule], warm_up(one.warmup), *each_seed(runs[one]))
        for one in order
        if one in runs
    ]
    return grid(["", "schedule", "warm-up", "loss of each seed", "BLEU"], rows)


QUESTION = Question(
    name="schedules",
    statement="Is Pre-LN's lead the placement's or the schedule's, at half the paper's width with 1,024 tokens an "
    "update?",
    source="our own; the paper compares the two placements with different schedules (section 4.1)",
    published="none",
    how_known="unknown",
    rule="Each placement is trained with both schedules. The placement decides if Pre-LN's lead with each schedule "
    "is larger than the largest difference that the schedule makes within a placement; the schedule decides if both "
    "leads are smaller; otherwise both do. Post-LN is not annealed with the inverse root; `annealing` asks that.",
    written=datetime.date(2026, 11, 23),
    quantities={
        "lead": "loss of Post-LN minus that of Pre-LN",
        "schedule": "loss with the constant rate that drops minus that with the inverse root",
    },
    findings=findings,
    answer=answer,
    table=table,
    reads=("iwslt14-50k-cpu", "confounds"),
    changes=(
        Change(
            datetime.date(2026, 11, 28),
            "The means over the seeds decided.",
            "Each seed is asked now, and pairs of the same seed are compared, as in the ledger.",
            "committed: the placement → the placement",
        ),
    ),
)
