"""Which placements are ahead on the bench, what each bears, and which go on to real text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.answers.failure_map import Limits, limits
from docs.committed import study_of
from docs.markdown import NOT_YET, grid, limit, losses, rate, warm_up
from preln.config import RunSettings
from preln.jobs.runs import expand
from preln.placements import PAPER, PLACEMENTS
from preln.report.core.labels import OPTIONS, label
from preln.report.core.statistics import mean
from preln.translation.report.bench import SOURCE, Line, Records, lines, on_a_bench

NEAR = 0.05
"""Placements whose mean losses differ by less, in bits a token, are not told apart."""


@dataclass(frozen=True)
class OnTheBench:
    """A model on the bench: its better length of warm-up, and what it bears with each.

    Attributes:
        losses: of the seeds at its best rate, with the warm-up that gives the lower mean; infinite if no rate trains.
        rate: that rate.
        warmup: that warm-up, in updates.
        sensitivity: of the learning rate, with that warm-up.
        limits: the largest rates that train.
        top: the highest rate of the bench.
        guess: the loss of the constant guess.
    """

    losses: Sequence[float]
    rate: float
    warmup: int
    sensitivity: float
    limits: Limits
    top: float
    guess: float

    @property
    def trains(self) -> bool:
        """Whether it trains at any rate."""
        return math.isfinite(max(self.losses))


def bears_more_with_warmup(one: OnTheBench) -> bool:
    """Whether a placement bears a higher rate with the warm-up: by one step of the bench's grid or more."""
    # The steps are 3.16 and 3.17, and the rates have two digits.
    return one.limits.ratio >= 3.1


def is_at_the_top(one: OnTheBench) -> bool:
    """Whether a model trains at the highest rate of the bench, with the warm-up and without: no limit is seen."""
    return one.limits.without == one.limits.longest == one.top


def is_ahead(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether a model is better than another, by the losses of their seeds: every seed, and the means by a twentieth
    of a bit at least."""
    return max(one) < min(other) and _behind(mean(other), mean(one)) >= NEAR


def _behind(loss: float, other: float) -> float:
    """How much higher a mean loss is than another, without the error of the difference in binary."""
    return round(loss - other, 6)


def the_other_fourteen(found: Mapping[str, OnTheBench]) -> dict[str, OnTheBench]:
    """The placements of a bench beside the paper's two, without the options."""
    return {record.label: found[record.label] for name, record in PLACEMENTS.items() if name not in PAPER}


def best_four(others: Mapping[str, OnTheBench]) -> list[str]:
    """Those of the placements beside the paper's two that go on to real text, the best first.

    The four lowest mean losses at the best rate. Of those that are within a twentieth of a bit of the fourth, on either
    side, the least sensitive ones go on.
    """
    by_loss = sorted(others, key=lambda name: mean(others[name].losses))
    fourth = mean(others[by_loss[3]].losses)
    behind = {name: _behind(mean(others[name].losses), fourth) for name in by_loss}
    sure = [name for name in by_loss if behind[name] < -NEAR]
    near = [name for name in by_loss if abs(behind[name]) <= NEAR]
    chosen = sure + sorted(near, key=lambda name: others[name].sensitivity)[: 4 - len(sure)]
    return sorted(chosen, key=by_loss.index)


def name_of(settings: RunSettings) -> str:
    """A model's name on the bench: its placement and its options."""
    return label(settings, {"placement", *OPTIONS}, with_warmup=False)


def models_of(study: str) -> dict[str, RunSettings]:
    """The models of a study of config/ by their names on the bench, each with the settings of one of its runs. The runs
    of a model differ in the seed and the depth alone."""
    return {name_of(run.settings): run.settings for run in expand(study_of(study))}


def on_the_bench(found: Records) -> dict[str, OnTheBench]:
    """The models of a bench by their names, in the order of its runs. All of its runs are done."""
    by_model: dict[str, list[Line]] = {}
    for line in lines(found):
        by_model.setdefault(name_of(line.model.settings), []).append(line)
    return {name: _on_the_bench(its) for name, its in by_model.items()}


def _on_the_bench(its: Sequence[Line]) -> OnTheBench:
    """A model, whose lines are those of its lengths of warm-up."""
    first = its[0]
    model, top = first.model, max(first.model.rates)
    trained = [(*best, line) for line in its if (best := model.best(line.warmup))]
    if not trained:
        return OnTheBench((math.inf,), math.nan, first.warmup, first.sensitivity, limits(model), top, first.guess)
    peak, cell, line = min(trained, key=lambda one: one[1].loss)
    return OnTheBench(cell.losses, peak, line.warmup, line.sensitivity, limits(model), top, cell.guess)


# The page's tables and the README's row all ask for it, and it reads 360 records.
@cache
def read(results: Path) -> Mapping[str, OnTheBench]:
    """The models of the bench by their names; none while a run is not made."""
    study = study_of("placements")
    found = SOURCE.load(study, on_a_bench(study, SOURCE.jobs(study)), results)
    return on_the_bench(found) if len(found.runs.summary) == len(found.runs.runs) else {}


def table(results: Path) -> str:
    """What the bench of placements says, when all of its runs are made."""
    found = read(results)
    return what_the_bench_says(found) if found else f"**{NOT_YET}.**\n"


def what_the_bench_says(found: Mapping[str, OnTheBench]) -> str:
    """The models of a bench whose runs are all done, the one with the lowest loss first, and the best four."""
    rows = [
        (
            name,
            losses(one.losses),
            *((rate(one.rate), warm_up(one.warmup)) if one.trains else ("", "")),
            *(limit(one.limits.without), limit(one.limits.longest)),
            "yes" if bears_more_with_warmup(one) else "at the top" if is_at_the_top(one) else "no",
            f"{one.sensitivity:.2f}",
        )
        for name, one in sorted(found.items(), key=lambda of: mean(of[1].losses))
    ]
    head = [
        *("", "loss of each seed", "best rate", "its warm-up", "limit, no warm-up", "limit, warm-up"),
        *("bears a higher rate with it", "sensitivity"),
    ]
    return f"{grid(head, rows)}\n**The best four by the rule: {', '.join(best_four(the_other_fourteen(found)))}.**\n"
