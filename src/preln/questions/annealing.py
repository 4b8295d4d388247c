"""Pre-LN's lead with annealed schedules: the placement's or the schedule's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from preln.placements import PLACEMENTS
from preln.questions.base import AGAINST, FOR, Answer, Evidence, Findings, Question
from preln.questions.core.markdown import each_seed, grid
from preln.questions.core.series import (
    BLEU,
    LOSS,
    Reader,
    Sample,
    Series,
    after_epoch,
    difference,
    difference_at,
    grouped,
    spent_by_both,
)
from preln.report.core.statistics import mean

LEAD = 0.05
"""A lead within this is none, in bits a token: C14's margin."""
ASKED = {"optimizer": "adam", "learning_rate": 5e-4, "accumulate": 4, "batch_tokens": 1024, "epochs": 4, "width": 256}
ASKED |= {"placement": ("post", "pre"), "initialisation": "fairseq"}
SCHEDULES = {
    ("inverse-sqrt", True): "warm-up, inverse root",
    ("constant", False): "constant, drop",
    ("linear", True): "warm-up, linear to zero",
    ("linear", False): "no warm-up, linear to zero",
}
"""The names of the schedules, with a warm-up and without one."""
INVERSE, DROP, WARMED, COLD = SCHEDULES.values()


def cell_of(settings: Mapping[str, Any]) -> tuple[str, str] | None:
    """The placement and the schedule of a run; None of another schedule."""
    schedule = SCHEDULES.get((settings["schedule"], settings["warmup"] > 1))
    return (settings["placement"], schedule) if schedule else None


def cells(evidence: Evidence, quantity: str = LOSS, read: Reader | None = None) -> dict[tuple[str, str], Series]:
    """The runs by placement and schedule."""
    return grouped(evidence.runs(quantity), cell_of, ASKED, read)


def findings(evidence: Evidence) -> Findings:
    last, early = cells(evidence), cells(evidence, read=after_epoch(3))
    post, pre = ("post", INVERSE), ("pre", DROP)
    if not {post, pre} <= last.keys() or last[post].samples.keys().isdisjoint(last[pre].samples):
        return
    yield QUESTION.find("equal-updates", "after epoch 3", difference(early[post], early[pre]), low=LEAD)
    yield QUESTION.find("equal-sums", "", difference_at(spent_by_both, last[post], last[pre]), low=LEAD)
    before = difference_at(_spent_before_the_drop, last[post], last[pre])
    yield QUESTION.find("before-the-drop", "", before, low=LEAD, beside="it was read afterwards")
    yield QUESTION.find("at-the-end", "", difference(last[post], last[pre]), low=LEAD, beside="both clocks decide")
    shared = set.intersection(*(set(run.samples) for run in last.values()))
    if len(last) < 2 * len(SCHEDULES) or not shared:
        return
    last = {cell: run.of(shared) for cell, run in last.items()}
    within = {name: difference(last[name, WARMED], last[name, COLD]) for name in ("post", "pre")}
    size = max(LEAD, *(abs(mean(compared.values)) for compared in within.values()))
    for schedule in SCHEDULES.values():
        lead = difference(last["post", schedule], last["pre", schedule])
        yield QUESTION.find("lead", schedule, lead, low=size)
    better = [max(last[name, WARMED], last[name, COLD], key=lambda run: run.score) for name in ("pre", "post")]
    yield QUESTION.find("level", "", difference(*better), low=-0.1, high=0.1)
    for name, compared in within.items():
        label = PLACEMENTS[name].label
        yield QUESTION.find("warmup-helps", label, compared, high=-LEAD)
        yield QUESTION.find("warmup-harms", label, compared, low=LEAD, beside="it is the other way round")


def _spent_before_the_drop(post: Sample, pre: Sample) -> float:
    """The sum of rates that Pre-LN has spent where its rate drops, or the smaller of those that both spend in all."""
    return min([spent_by_both(post, pre), *pre.sums[: pre.settings["drop_epoch"]][-1:]])


def words(answer: Answer) -> list[str]:
    """Whose the lead is, whether they end level, and what the warm-up does."""
    clocks = [answer.points("equal-updates"), answer.points("equal-sums")]
    word = "it stands on both clocks" if all(clocks) else "it stands on neither clock"
    if clocks[0] != clocks[1]:
        word = "it depends on the schedule"
    (lead,) = answer.of("equal-updates")
    sentences = [f"the lead of the paper's pair: {word} (seeds: {len(lead.values)})"]
    (dropping,) = answer.of("before-the-drop")
    word = "its lead is undecided"
    if dropping.outcome in FOR | AGAINST:
        word = "it leads" if dropping.outcome in FOR else "it does not lead"
    sentences.append(f"at equal sums where Pre-LN's rate drops, {word} (read afterwards)")
    if not answer.of("lead"):
        return sentences
    by_seed = list(zip(*(finding.values for finding in answer.of("lead")), strict=True))
    if answer.points("lead"):
        sentences.append("the lead is the placement's")
    elif all(max(leads) > LEAD and min(leads) < -LEAD for leads in by_seed):
        sentences.append("the lead depends on the schedule")
    else:
        sentences.append("both decide")
    sentences.append(f"annealed, they {'end level' if answer.points('level') else 'do not end level'}")
    for helps, harms in zip(answer.of("warmup-helps"), answer.of("warmup-harms"), strict=True):
        word = "helps" if helps.outcome in FOR else "does harm" if harms.outcome in FOR else "makes no difference"
        sentences.append(f"the warm-up {word} in {helps.of}")
    return sentences


def table(evidence: Evidence) -> str:
    """The last loss of each seed, by schedule and placement."""
    seeds = each_seed(cells(evidence), cells(evidence, BLEU))
    rows = [
        (schedule, PLACEMENTS[name].label, *seeds[name, schedule])
        for schedule in SCHEDULES.values()
        for name in ("post", "pre")
        if (name, schedule) in seeds
    ]
    return grid(["schedule", "", "loss of each seed", "BLEU"], rows)


QUESTION = Question(
    name="annealing",
    statement="Is Pre-LN's lead the placement's or the schedule's, where Post-LN is annealed too?",
    source="our own; claims C13 and C14 of the paper",
    rule="Half the paper's width, 4,096 tokens an update, 1,552 updates. A lead is Post-LN's loss minus Pre-LN's, by "
    "seed; within 0.05 bits it is none. The paper's pair (Pre-LN with the drop, Post-LN with warm-up and inverse root) "
    "is read at equal updates, after epoch 3, and at equal sums of rates, the sum that Post-LN has at its end (or "
    "Pre-LN's, where it spends less in all): the lead stands if each seed leads by both, and depends on the schedule "
    "if the two disagree. The lead is the placement's if each seed has it at the end with each schedule, larger than "
    "the largest difference that the schedule makes within a placement between the two annealed ones; it depends on "
    "the schedule if its sign differs between schedules in each seed; otherwise both decide. They end level if the "
    "better annealed schedule of each placement ends within 0.1 bits of the other's in each seed. The warm-up helps a "
    "placement if, annealed, it ends lower by more than 0.05 bits in each seed, and does harm if higher by as much. "
    "The interval of the mean decides where seeds disagree. Beside the rule, the lead at equal sums is also read "
    "where Pre-LN's rate drops, before it is annealed.",
    written="2026-11-28",
    quantities={
        "equal-updates": "lead of the paper's pair at equal updates",
        "equal-sums": "lead of the paper's pair at equal sums of rates",
        "before-the-drop": "lead of the paper's pair at equal sums of rates, where Pre-LN's rate drops",
        "at-the-end": "lead of the paper's pair at the end",
        "lead": "lead at the end",
        "level": "loss of Pre-LN minus that of Post-LN, the better annealed schedule of each",
        "warmup-helps": "loss with minus without a warm-up, annealed",
        "warmup-harms": "loss with minus without a warm-up, annealed",
    },
    findings=findings,
    answer=words,
    table=table,
    reads=("annealing",),
)
