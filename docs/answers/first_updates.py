"""Large gradients, or large updates of the function? (C9)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from docs.answers.iwslt14 import LONG_WARMUP, fails
from docs.committed import study_of
from docs.markdown import answered
from preln.config import RunSettings
from preln.report.core.statistics import mean
from preln.theory.report import traces
from preln.theory.report.table_first_updates import NUMBERS, Number
from preln.theory.report.traces import gradient_at_first
from preln.theory.trace_jobs import expand as expand_traces

Seed = tuple[pd.DataFrame, RunSettings]
LAST_UPDATES = (191, 200)
"""The updates whose means are compared with the first."""


@dataclass(frozen=True)
class FirstUpdates:
    """The first updates of a model: means over the seeds.

    Attributes:
        seeds: how many.
        loss: of the fixed batch after the last update, in bits a token.
        last_gradient: norm of the gradient of the last decoder layer, before the first update.
        largest_step: the largest ‖Δf‖ of the first ten updates.
        first_gradient_kept: the gradient of the first decoder layer over updates 191 to 200, over that before the first
            update.
        input_growth: the input of the last decoder layer's LayerNorm over the same updates, over that at
            initialisation.
    """

    seeds: int
    loss: float
    last_gradient: float
    largest_step: float
    first_gradient_kept: float
    input_growth: float

    @property
    def vanishes(self) -> bool:
        """Whether the gradient of the first decoder layer is at most a tenth of what it was."""
        return self.first_gradient_kept <= 0.1

    @property
    def swells(self) -> bool:
        """Whether the input of the last LayerNorm is at least half as large again."""
        return self.input_growth >= 1.5


def answer(post: FirstUpdates, pre: FirstUpdates, control: FirstUpdates, warmed_up: FirstUpdates) -> list[str]:
    """What the first updates say.

    Args:
        post, pre, control: Post-LN, Pre-LN and Post-LN-init without a warm-up.
        warmed_up: Post-LN with one.
    """
    without = [post, pre, control]
    stuck = [one for one in without if fails(one.loss)]
    learning = [one for one in without if one not in stuck]
    if post not in stuck or pre not in learning:
        return ["nothing to explain here, for Post-LN learns or Pre-LN does not"]
    found = []
    gradients_for = all(one.last_gradient >= 1.25 * other.last_gradient for one in stuck for other in learning)
    gradients_against = control in learning and control.last_gradient >= 0.9 * post.last_gradient
    updates_for = all(one.largest_step >= 2 * other.largest_step for one in stuck for other in [*learning, warmed_up])
    updates_against = any(other.largest_step >= 0.9 * post.largest_step for other in [*learning, warmed_up])
    for holds, case in (
        (gradients_for, "for large gradients"),
        (gradients_against, "against large gradients"),
        (updates_for, "for large updates"),
        (updates_against, "against large updates"),
    ):
        if holds:
            found.append(case)
    # By their bounds, a case for and a case against the same explanation never hold at once.
    if control in stuck:
        found.append("Post-LN-init is stuck, so the two explanations are not told apart")
    elif not found:
        found.append("the question stays open")
    # This answer may stand beside any other.
    if post.vanishes and post.swells and not control.vanishes and not control.swells:
        found.append("for the mechanism of Wang et al.")
    return found


MODELS = {
    "Post-LN, no warm-up": ("post", 0),
    "Pre-LN, no warm-up": ("pre", 0),
    "Post-LN-init, no warm-up": ("post-init", 0),
    "Post-LN, warm-up of 1,333": ("post", LONG_WARMUP),
}
"""The placement and the warm-up of each model, by its name on the page."""


def read(results: Path) -> dict[str, FirstUpdates]:
    """The models of `first-updates` of which a trace is made, by their names on the page."""
    study = study_of("first-updates")
    jobs = expand_traces(study)
    settings = {job.id: job.settings for job in jobs}
    seeds: dict[tuple[str, int], list[Seed]] = {}
    for run, trace in traces.load(study, jobs, results).table.groupby("run", sort=False):
        its = settings[str(run)]
        seeds.setdefault((its.placement, its.warmup), []).append((trace, its))
    return {name: of_seeds(seeds[model]) for name, model in MODELS.items() if model in seeds}


def of_seeds(seeds: Sequence[Seed]) -> FirstUpdates:
    """The numbers of a model, from the trace of each seed."""

    def over_seeds(number: Number) -> float:
        return mean([number(trace, its) for trace, its in seeds])

    def at_end(trace: pd.DataFrame, column: str) -> float:
        return float(trace.set_index("update")[column].loc[slice(*LAST_UPDATES)].mean())

    return FirstUpdates(
        seeds=len(seeds),
        loss=over_seeds(NUMBERS["loss"][1]),
        last_gradient=over_seeds(NUMBERS["last_gradient"][1]),
        largest_step=over_seeds(NUMBERS["largest_change"][1]),
        first_gradient_kept=over_seeds(
            lambda trace, its: at_end(trace, traces.of_layer("gradient_norm", its, last=False))
        )
        / over_seeds(lambda trace, its: gradient_at_first(trace, its, last=False)),
        input_growth=over_seeds(lambda trace, its: at_end(trace, traces.of_layer("input_norm", its, last=True)))
        / over_seeds(lambda trace, its: float(trace[traces.of_layer("input_norm", its, last=True)].iloc[0])),
    )


def answer_of(found: Mapping[str, FirstUpdates]) -> list[str]:
    """The answer of `first-updates`; nothing before each model has three seeds."""
    if not (len(found) == len(MODELS) and all(one.seeds == 3 for one in found.values())):
        return []
    post, pre, control, warmed_up = (found[name] for name in MODELS)
    return answer(post, pre, control, warmed_up)


def table(results: Path) -> str:
    """The models of `first-updates` in the numbers of the rule, and the answer."""
    found = read(results)
    rows = [
        (
            name,
            f"{one.loss:.2f}",
            f"{one.last_gradient:.2f}",
            f"{one.largest_step:#.2g}",
            f"{one.first_gradient_kept:.2g}",
            f"{one.input_growth:.2f}",
            str(one.seeds),
        )
        for name, one in found.items()
    ]
    head = [
        "",
        "loss after 200",
        "last gradient",
        "largest step",
        "first gradient kept",
        "growth of the input",
        "seeds",
    ]
    return answered(head, rows, answer_of(found))
