"""Whether Pre-LN's lead is the placement's or the schedule's, with annealed schedules."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from preln.placements import PLACEMENTS
from preln.questions.base import FOR, Answer, Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.groups import Ends, after_epoch, ends, minus
from preln.questions.core.markdown import each_seed, grid
from preln.questions.core.series import Compared
from preln.report.core.statistics import mean

MARGIN = 0.05
"""A lead within this is none, in bits a token: C14's margin."""
ASKED = {"optimizer": "adam", "learning_rate": 5e-4, "accumulate": 4, "batch_tokens": 1024, "epochs": 4, "width": 256}
SCHEDULES = {
    "warm-up, inverse root": ("inverse-sqrt", True),
    "constant, drop": ("constant", False),
    "warm-up, linear to zero": ("linear", True),
    "no warm-up, linear to zero": ("linear", False),
}
INVERSE, DROP, WARMED, COLD = SCHEDULES


@dataclass(frozen=True)
class Cell:
    """A placement with one of the schedules."""

    placement: str
    schedule: str


def cell_of(settings: Mapping[str, Any]) -> Cell | None:
    """Which cell a run is in; None of another run."""
    if settings["placement"] not in ("post", "pre") or any(settings[key] != value for key, value in ASKED.items()):
        return None
    schedule = settings["schedule"], settings["warmup"] > 1
    named = [name for name, one in SCHEDULES.items() if one == schedule]
    return Cell(settings["placement"], named[0]) if named and settings["initialisation"] == "fairseq" else None


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The leads, Post-LN minus Pre-LN by seed, on both clocks and with each schedule; and what the warm-up does."""
    last = ends(evidence, cell_of)
    if len(last) < 2 * len(SCHEDULES):
        return
    early = ends(evidence, cell_of, after_epoch(3))
    post, pre = Cell("post", INVERSE), Cell("pre", DROP)
    yield QUESTION.find("equal-updates", "after epoch 3", minus(early[post], early[pre]), low=MARGIN)
    yield QUESTION.find("equal-sums", "", _at_equal_sums(last[post], last[pre]), low=MARGIN)
    yield QUESTION.find("at-the-end", "", minus(last[post], last[pre]), low=MARGIN, beside="both clocks decide")
    within = {name: minus(last[Cell(name, WARMED)], last[Cell(name, COLD)]) for name in ("post", "pre")}
    size = max(MARGIN, *(abs(mean(one.values)) for one in within.values()))
    for schedule in SCHEDULES:
        lead = minus(last[Cell("post", schedule)], last[Cell("pre", schedule)])
        yield QUESTION.find("lead", schedule, lead, low=size)
    better = {
        name: min((last[Cell(name, one)] for one in (WARMED, COLD)), key=lambda run: mean(list(run.capped.values())))
        for name in ("post", "pre")
    }
    yield QUESTION.find("level", "", minus(better["pre"], better["post"]), low=-0.1, high=0.1)
    for name, difference in within.items():
        label = PLACEMENTS[name].label
        yield QUESTION.find("warmup-helps", label, difference, high=-MARGIN)
        yield QUESTION.find("warmup-harms", label, difference, low=MARGIN, beside="it is the other way round")


def _at_equal_sums(post: Ends, pre: Ends) -> Compared:
    """The lead where both have spent the smaller of the sums of rates that they spend in all."""
    seeds = sorted(post.samples.keys() & pre.samples.keys())
    sums = {seed: min(run.samples[seed].sums[-1] for run in (post, pre)) for seed in seeds}
    return Compared(
        tuple(post.samples[seed].at_sum(sums[seed]) - pre.samples[seed].at_sum(sums[seed]) for seed in seeds)
    )


def answer(found: Answer) -> list[str]:
    """Whose the lead is, whether they end level, and what the warm-up does."""

    def holds(part: str) -> bool:
        return all(one.outcome in FOR for one in found.of(part))

    clocks = [holds("equal-updates"), holds("equal-sums")]
    said = ["the lead stands on both clocks" if all(clocks) else "on the two clocks, no lead stands"]
    if clocks[0] != clocks[1]:
        said = ["the paper's pair: depends on the schedule"]
    leads = found.of("lead")
    by_seed = list(zip(*(one.values for one in leads), strict=True))
    if holds("lead"):
        said.append("the lead is the placement's")
    elif all(max(values) > MARGIN and min(values) < -MARGIN for values in by_seed):
        said.append("the lead depends on the schedule")
    else:
        said.append("both decide")
    said.append(f"annealed, they {'end level' if holds('level') else 'do not end level'}")
    for helps, harms in zip(found.of("warmup-helps"), found.of("warmup-harms"), strict=True):
        word = "helps" if helps.outcome in FOR else "does harm" if harms.outcome in FOR else "does neither"
        said.append(f"the warm-up {word} in {helps.of}")
    return said


def table(evidence: Evidence) -> str:
    """The last loss of each seed, by schedule and placement."""
    last = ends(evidence, cell_of)
    rows = [
        (schedule, PLACEMENTS[name].label, *each_seed(last[Cell(name, schedule)]))
        for schedule in SCHEDULES
        for name in ("post", "pre")
        if Cell(name, schedule) in last
    ]
    return grid(["schedule", "", "loss of each seed", "BLEU"], rows)


QUESTION = Question(
    name="annealing",
    statement="Is Pre-LN's lead the placement's or the schedule's, where Post-LN is annealed too?",
    source="our own; claims C13 and C14 of the paper",
    published="none",
    how_known="unknown",
    rule="Half the paper's width, 4,096 tokens an update, 1,552 updates. A lead is Post-LN's loss minus Pre-LN's, by "
    "seed; within 0.05 bits it is none. The paper's pair (Pre-LN with the drop, Post-LN with warm-up and inverse "
    "root) is read at equal updates, after epoch 3, and at equal sums of rates, the sum that Post-LN has at its end "
    "(or Pre-LN's, where it spends less in all): the lead stands if each seed leads by both, and depends on the "
    "schedule if the two disagree. The lead is the placement's if each seed has it at the end with each schedule, "
    "larger than the largest difference that the schedule makes within a placement between the two annealed ones; it "
    "depends on the schedule if its sign differs between schedules in each seed; otherwise both decide. They end "
    "level if the better annealed schedule of each placement ends within 0.1 bits of the other's in each seed. The "
    "warm-up helps a placement if, annealed, it ends lower by more than 0.05 bits in each seed, and does harm if "
    "higher by as much. The interval of the mean decides where seeds disagree.",
    written=datetime.date(2026, 11, 28),
    quantities={
        "equal-updates": "lead of the paper's pair at equal updates",
        "equal-sums": "lead of the paper's pair at equal sums of rates",
        "at-the-end": "lead of the paper's pair at the end",
        "lead": "lead at the end",
        "level": "loss of Pre-LN minus that of Post-LN, the better annealed schedule of each",
        "warmup-helps": "loss with minus without a warm-up, annealed",
        "warmup-harms": "loss with minus without a warm-up, annealed",
    },
    findings=findings,
    answer=answer,
    table=table,
    reads=("annealing",),
)
