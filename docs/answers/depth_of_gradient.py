"""Does Post-LN's last gradient fall with the depth at width 64? (C8)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from docs.answers.small_causes import STUDY
from docs.committed import study_of
from docs.markdown import answered, interval
from preln.jobs.runs import expand
from preln.placements import PAPER, PLACEMENTS
from preln.report.core.statistics import Estimate, estimate
from preln.theory.measurement_jobs import expand as expand_measurements
from preln.theory.measurements import INITIAL
from preln.theory.report import records as of_theory
from preln.theory.report.records import last_gradients

BENCHS, PAPERS = (6, 12, 18), (6, 8, 10, 12, 14)
"""The layers of `placements`, and those of the paper."""
NEW_SEEDS = range(4, 41)
"""The seeds of `small-causes` that `placements` does not have."""
BOUND = 0.1
"""How far from zero C8 lets the exponent be."""


@dataclass(frozen=True)
class Exponents:
    """The exponent of the depth in the last gradient of W², over both sets of depths."""

    benchs: Estimate
    papers: Estimate


def answer(post: Exponents) -> list[str]:
    """What Post-LN's exponents say."""

    def within(one: Estimate) -> bool:
        return -BOUND <= one.low and one.high <= BOUND

    if within(post.benchs):
        return ["chance is the cause"]
    are_depths = post.benchs.high < -BOUND and within(post.papers)
    return ["the depths are the cause" if are_depths else "neither is shown"]


def read(results: Path) -> dict[str, Exponents]:
    """The exponents of each placement of `small-causes`, over the new seeds; nothing while a part is not measured."""
    study = study_of(STUDY)
    parts = expand_measurements(study, expand(study))
    measured = of_theory.load(study, parts, results).table
    if measured["part"].nunique() < len(parts):
        return {}
    last = last_gradients(of_theory.expected_gradients(measured))
    mine = last[(last["state"] == INITIAL) & last["seed"].isin(NEW_SEEDS)]

    def over(its: pd.DataFrame, depths: tuple[int, ...]) -> Estimate:
        return estimate(of_theory.exponents(its[its["depth"].isin(depths)], "depth"))

    return {str(name): Exponents(over(its, BENCHS), over(its, PAPERS)) for name, its in mine.groupby("placement")}


def table(results: Path) -> str:
    """Both placements' exponents over both sets of depths, and the answer."""
    found = read(results)

    rows = [
        (PLACEMENTS[name].label, interval(found[name].benchs), interval(found[name].papers), str(found[name].benchs.n))
        for name in PAPER
        if name in found
    ]
    head = ["", "exponent over 6, 12 and 18 layers", "over 6, 8, 10, 12 and 14 layers", "seeds"]
    return answered(head, rows, answer(found["post"]) if found else [])
