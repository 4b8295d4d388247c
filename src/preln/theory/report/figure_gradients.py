"""The expected gradient of every weight matrix by layer, which the paper computed and did not print (section 3.4)."""

from __future__ import annotations

import textwrap
from typing import Any

from preln.config import Study
from preln.libraries import mpl, seaborn
from preln.placements import PLACEMENTS, in_order
from preln.report.core.entries import Figure, NothingDone
from preln.report.core.looks import MARKERS, PALETTE
from preln.report.core.records import having
from preln.report.core.statistics import interval
from preln.report.core.style import NOTE, TEXT_WIDTH, legend_below
from preln.theory.report.records import SOURCE, STATES, Records, expected_gradients, legible, seeds_of

_ROW_HEIGHT = 2.0  # inches
_LEGEND_HEIGHT = 0.4
_STACKS = ["encoder", "decoder"]
_MATRICES = ["W1", "W2", "W3", "Q", "K", "V", "O", "cross-Q", "cross-K", "cross-V", "cross-O"]
_KINDS = dict(zip(["W1", "W2", "Q", "K", "V", "O", "W3"], zip(PALETTE, MARKERS, strict=False), strict=False))
"""The colour and the marker of the matrices of one name."""

_LABELS = {
    name: ("$W^" + name[1] + "$") if name[0] == "W" else "$W^" + name[-1] + "$" + " (cross)" * name.startswith("cross")
    for name in _MATRICES
}


def _look(matrix: str) -> dict[str, Any]:
    """The look of a matrix, in the terms of `Axes.plot`; those of cross-attention are broken, with open markers."""
    colour, marker = _KINDS[matrix.removeprefix("cross-")]
    look: dict[str, Any] = {"color": colour, "marker": marker, "markeredgecolor": colour, "markersize": 4}
    crossing = {"linestyle": (0, (3.5, 1.5)), "markerfacecolor": "white"} if matrix.startswith("cross") else {}
    return {**look, "linewidth": 0.9, **crossing}


def compose(study: Study, records: Records) -> mpl.figure.Figure:
    """The figure of a study's records."""
    norms = having(expected_gradients(records.table), variant="")
    # The other depths have the decoder's feed-forward matrices alone.
    norms = having(norms, depth=norms["depth"].min())
    measured = set(zip(norms["placement"], norms["state"], strict=True))
    columns = [(name, state) for state in STATES for name in in_order(norms["placement"]) if (name, state) in measured]
    stacks = [stack for stack in _STACKS if stack in set(norms["stack"])]
    if not columns or not stacks:
        raise NothingDone
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, _ROW_HEIGHT * len(stacks) + _LEGEND_HEIGHT), layout="constrained")
    space = figure.add_gridspec(len(stacks) + 1, len(columns), height_ratios=[*([1] * len(stacks)), 0.2])
    shared = None
    for row, stack in enumerate(stacks):
        for column, (placement, state) in enumerate(columns):
            axes = shared = figure.add_subplot(space[row, column], sharey=shared)
            model = having(norms, placement=placement, state=state)
            embeddings = having(model, matrix="embeddings")["value"]
            if row == 0:
                axes.set_title(f"{PLACEMENTS[placement].label}, {STATES[state]}")
            axes.set_yscale("log")
            for name in _MATRICES:
                matrix = having(model, stack=stack, matrix=name)
                if len(matrix):
                    seaborn.lineplot(
                        matrix,
                        x="layer",
                        y="value",
                        errorbar=interval,
                        err_kws={"linewidth": 0, "alpha": 0.15},
                        ax=axes,
                        legend=False,
                        **_look(name),
                    )
            if len(embeddings):
                axes.axhline(embeddings.mean(), color="0.4", linewidth=0.8, linestyle=":")
            axes.set(xlabel=f"{stack.capitalize()} layer", ylabel="Gradient expectation" if column == 0 else "")
            if column:
                axes.tick_params(labelleft=False)
    names = set(norms["matrix"])
    handles = [mpl.lines.Line2D([], [], label=_LABELS[name], **_look(name)) for name in _MATRICES if name in names]
    label = "embeddings" if "output" in names else "shared embeddings"
    handles.append(mpl.lines.Line2D([], [], color="0.4", linestyle=":", linewidth=0.8, label=label))
    legend_below(figure, space[-1, :], handles, loc="center", ncols=6)
    figure.supxlabel(textwrap.fill(f"{records.progress}{seeds_of(norms)}", width=150), **NOTE)
    return figure


FIGURE = Figure(
    name="gradients",
    title="The expected gradients of every matrix, by layer",
    caption="The expected gradient of every weight matrix by layer, for the models of figure 3. The paper computed "
    "them, and shows those of the decoder's feed-forward sub-layers alone. Bands are 95% intervals of the "
    "mean over seeds.",
    source=SOURCE,
    of=legible,
    compose=compose,
)
