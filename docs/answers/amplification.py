"""Does the depth amplify the first update? (C4, C8, C9)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from docs.committed import study_of
from docs.markdown import answered, interval, rate
from preln.placements import PLACEMENTS
from preln.report.core.statistics import Estimate
from preln.theory.report import traces
from preln.theory.report.figure_amplification import Number, depths_of, slope, values
from preln.theory.trace_jobs import expand as expand_traces

AMPLIFIED_AT = (5e-7, 5e-4)
"""The rates of the study of depths: the one that decides, and the one of the other studies."""


@dataclass(frozen=True)
class ByDepth:
    """The exponents of the depth, over the seeds: of the first step of the function, and of the last gradient."""

    step: Estimate
    gradient: Estimate


def answer(post: ByDepth, pre: ByDepth, control: ByDepth) -> list[str]:
    """What the first updates by depth say; `control` is Post-LN-init."""
    if not (post.step.mean >= 0.25 and post.step.low > 0):
        return ["the depth does not amplify the first update"]

    def more_than(other: ByDepth) -> bool:
        return post.step.mean - other.step.mean >= 0.2 and post.step.low > other.step.high

    return [
        "Post-LN amplifies",
        "more than Pre-LN" if more_than(pre) else "not shown to be more than Pre-LN",
        "the gradient does not tell it" if abs(post.gradient.mean) <= 0.15 else "the gradient may tell it",
        "the control amplifies less" if more_than(control) else "the control is not shown to amplify less",
    ]


def read(results: Path, rate: float) -> dict[str, ByDepth]:
    """The exponents of each placement in `amplification` at a peak rate, by the placement's name; nothing while a trace
    is missing."""
    study = study_of("amplification")
    jobs = [job for job in expand_traces(study) if job.settings.learning_rate == rate]
    found = traces.load(study, jobs, results)
    if found.table["run"].nunique() < len(jobs):
        return {}

    def exponents(number: Number) -> dict[str, Estimate]:
        by_placement = values(found, number).groupby("placement", sort=False)
        return {str(name): slope(mine, depths_of(jobs)) for name, mine in by_placement}

    steps, gradients = exponents(traces.first_step), exponents(traces.gradient_at_first)
    return {name: ByDepth(steps[name], gradients[name]) for name in steps}


def answer_of(found: Mapping[str, ByDepth]) -> list[str]:
    """The answer of `amplification`; nothing while a trace is missing."""
    return answer(found["post"], found["pre"], found["post-init"]) if found else []


def table(results: Path) -> str:
    """The exponents of the depth of `amplification` at each rate whose traces are done, and the answer."""
    found = {at: read(results, at) for at in AMPLIFIED_AT}

    rows = [
        (rate(at), PLACEMENTS[name].label, interval(one.step), interval(one.gradient), str(one.step.n))
        for at, of_rate in found.items()
        for name, one in of_rate.items()
    ]
    head = ["rate", "", "exponent of the step", "exponent of the last gradient", "seeds"]
    return answered(head, rows, answer_of(found[AMPLIFIED_AT[0]]))
