"""Large gradients, or large updates of the function? (C9)"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from docs.committed import GUESS, LEARNS
from docs.markdown import answered
from preln.report.core.statistics import mean
from preln.report.theory.table_first_updates import FIRST

LAST_UPDATES = (191, 200)


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


def answer(
    post: FirstUpdates, pre: FirstUpdates, control: FirstUpdates, warmed_up: FirstUpdates, guess: float
) -> list[str]:
    """What the first updates say.

    Args:
        post, pre, control: Post-LN, Pre-LN and Post-LN-init without a warm-up.
        warmed_up: Post-LN with one.
        guess: the loss of the constant guess.
    """
    without = [post, pre, control]
    stuck = [one for one in without if not one.loss <= guess - LEARNS]
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
    if control in stuck:
        return [*found, "Post-LN-init is stuck, so the two explanations are not told apart"]
    # By their bounds, a case for and a case against the same explanation never hold at once.
    if not found:
        return ["the question stays open"]
    if post.vanishes and post.swells and not control.vanishes and not control.swells:
        found.append("for the mechanism of Wang et al.")
    return found


def traced(results: Path, runs: str) -> FirstUpdates:
    """The first updates of the runs of a study, in the folder of its results, whose id begins so."""
    traces = [pd.read_csv(path) for path in sorted(results.glob(f"first-updates/{runs}-s*/updates.csv"))]
    if not traces:
        raise KeyError(f"{results} has no trace of {runs}")
    layers = [name for name in map(str, traces[0]) if name.startswith("gradient_norm.decoder.")]
    last = max(int(name.rpartition(".")[2]) for name in layers)
    at_end = slice(LAST_UPDATES[0], LAST_UPDATES[1])

    def over_seeds(number: Callable[[pd.DataFrame], float]) -> float:
        return mean([number(trace.set_index("update")) for trace in traces])

    # The gradient of update 1 is that of the initial weights.
    return FirstUpdates(
        seeds=len(traces),
        loss=over_seeds(lambda trace: float(trace["loss"].iloc[-1])),
        last_gradient=over_seeds(lambda trace: float(trace[f"gradient_norm.decoder.{last}"][1])),
        largest_step=over_seeds(lambda trace: float(trace["function_change"].loc[1:FIRST].max())),
        first_gradient_kept=over_seeds(lambda trace: float(trace["gradient_norm.decoder.1"].loc[at_end].mean()))
        / over_seeds(lambda trace: float(trace["gradient_norm.decoder.1"][1])),
        input_growth=over_seeds(lambda trace: float(trace[f"input_norm.decoder.{last}"].loc[at_end].mean()))
        / over_seeds(lambda trace: float(trace[f"input_norm.decoder.{last}"][0])),
    )


TRACED = {
    "Post-LN, no warm-up": "post-adam-lr5e-4-wu0-hold1333",
    "Pre-LN, no warm-up": "pre-adam-lr5e-4-wu0-hold1333",
    "Post-LN-init, no warm-up": "post-init-adam-lr5e-4-wu0-hold1333",
    "Post-LN, warm-up of 1,333": "post-adam-lr5e-4-wu1333",
}


def read(results: Path) -> dict[str, FirstUpdates]:
    """The models of `first-updates`, by their names on the page."""
    return {name: traced(results / "first-updates", runs) for name, runs in TRACED.items()}


def answer_of(found: Mapping[str, FirstUpdates]) -> list[str]:
    """The answer of `first-updates`."""
    post, pre, control, warmed_up = found.values()
    return answer(post, pre, control, warmed_up, GUESS)


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
