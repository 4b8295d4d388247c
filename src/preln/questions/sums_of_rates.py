"""The loss without a warm-up: a failure, or a small sum of rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from preln.config import RunSettings
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.markdown import each_seed, grid, rate, warm_up
from preln.questions.core.series import BLEU, LOSS, difference, grouped
from preln.report.core.labels import setting
from preln.schedules import of as schedule_of
from preln.translation.report.budgets import sum_of_rates

UPDATES = 4653
"""The updates of the runs at half the paper's width: three epochs of 1,024 tokens an update."""
ANCHORS = ("warmup", "shift", "hold")
"""The readings of "no warm-up", by the sums of their rates."""
ASKED = {"placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt", "accumulate": 1, "epochs": 3}
ASKED |= {"width": 256, "warmup": (0, 1333)}


class Run(NamedTuple):
    """A run of Post-LN by Adam: its peak rate, its warm-up, where its decay begins, and the sum of its rates."""

    learning_rate: float
    warmup: int
    anchor: int
    total: float

    @property
    def budget(self) -> str:
        """The sum in three digits, by which two runs spend as much."""
        return f"{self.total:.3g}"


def run_of(settings: Mapping[str, Any]) -> Run:
    """Which run it is, by its settings."""
    known = {key: value for key, value in settings.items() if key in RunSettings.model_fields}
    total = sum_of_rates(schedule_of(RunSettings(**known, seed=1)), UPDATES)
    return Run(settings["learning_rate"], settings["warmup"], ANCHORS.index(settings["anchor"]), total)


def findings(evidence: Evidence) -> Findings:
    """Each run that decays from the first update on, beside that with the warm-up whose rates sum to as much."""
    runs = grouped(evidence.runs(), run_of, ASKED)
    for run in sorted(runs):
        for warmed_up in runs:
            if run.budget == warmed_up.budget and not run.warmup and warmed_up.warmup:
                of = f"{setting('learning_rate', run.learning_rate)}, {setting('anchor', ANCHORS[run.anchor])}"
                beside = "" if ANCHORS[run.anchor] == "warmup" else "the rule is about a decay from the first update on"
                apart = difference(runs[run], runs[warmed_up])
                yield QUESTION.find("difference", of, apart, low=-0.3, high=0.3, beside=beside)


def table(evidence: Evidence) -> str:
    """The pairs with equal sums, and the three readings of "no warm-up" beside the long warm-up."""
    cells = each_seed(*(grouped(evidence.runs(quantity), run_of, ASKED) for quantity in (LOSS, BLEU)))
    small = sorted(
        (run for run in cells if ANCHORS[run.anchor] == "warmup" and run.total < 1), key=lambda run: run.total
    )
    rows = [(run.budget, rate(run.learning_rate), warm_up(run.warmup), *cells[run]) for run in small]
    pairs = grid(["sum of rates", "peak rate", "warm-up", "loss", "BLEU"], rows)
    readings = [
        (
            *(rate(run.learning_rate), warm_up(run.warmup), "" if run.warmup else f"`{ANCHORS[run.anchor]}`"),
            *(f"{run.total / run.learning_rate:,.0f}", *cells[run]),
        )
        for run in sorted(cells)
        if run.learning_rate in (5e-4, 1e-3)
    ]
    head = ["peak rate", "warm-up", "decay begins", "sum of rates, in peak rates", "loss of each seed", "BLEU"]
    return f"{pairs}\n{grid(head, readings)}"


QUESTION = Question(
    name="sums-of-rates",
    statement="Is the loss without a warm-up a failure of training, or that of a small sum of learning rates?",
    source="our own; the paper's section 3.2 leaves open where the decay begins",
    published="BLEU 8.45 without a warm-up",
    how_known="printed",
    rule="If the rate decays from the first update on, the rates sum to 135 peak rates, and with the warm-up to 2,982. "
    "A run with a warm-up whose rates have the same small sum is the control. If the two end within 0.3 bits of each "
    "other, the sum explains the loss; above it, the missing warm-up does harm of its own.",
    written="2026-11-23",
    quantities={"difference": "the sum of the rates explains the loss: without minus with a warm-up, at equal sums"},
    findings=findings,
    table=table,
    reads=("iwslt14-50k-cpu", "confounds"),
)
