"""The expected gradient of every weight matrix by layer, which the paper computed and did not print (section 3.4)."""

from __future__ import annotations

from typing import Any

import seaborn
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from preln.placements import PAPER, in_order
from preln.report.core.labels import PLACEMENTS
from preln.report.core.statistics import interval
from preln.report.core.style import TEXT_WIDTH
from preln.report.theory.records import STATES, Records, expected_gradients, seeds_of

_HEIGHT = 4.4  # inches
_STACKS = ["encoder", "decoder"]
_MATRICES = ["W1", "W2", "Q", "K", "V", "O", "cross-Q", "cross-K", "cross-V", "cross-O"]
_COLOURS = seaborn.color_palette("colorblind").as_hex()
_LOOKS: dict[str, dict[str, Any]] = {
    name: {"color": _COLOURS[i % 6], "marker": marker, "linestyle": "-" if i < 6 else (0, (3.5, 1.5))}
    for i, (name, marker) in enumerate(zip(_MATRICES, "so^vD*^vD*", strict=True))
}
_LABELS = {
    name: ("$W^" + name[1] + "$") if name[0] == "W" else "$W^" + name[-1] + "$" + " (cross)" * name.startswith("cross")
    for name in _MATRICES
}


def compose(records: Records) -> Figure:
    """The figure of a study's records."""
    norms = expected_gradients(records.table)
    norms = norms[norms["variant"] == ""]
    # The other depths have the decoder's feed-forward matrices alone.
    norms = norms[norms["depth"] == norms["depth"].min()]
    figure = Figure(figsize=(TEXT_WIDTH, _HEIGHT), layout="constrained")
    trained = in_order(norms[norms["state"] == "after-warm-up"]["placement"])
    columns = [
        *((placement, "initial") for placement in in_order([*PAPER, *norms["placement"]])),
        *((placement, "after-warm-up") for placement in trained or PAPER[:1]),
    ]
    space = figure.add_gridspec(3, len(columns), height_ratios=[1, 1, 0.2])
    shared = None
    for row, stack in enumerate(_STACKS):
        for column, (placement, state) in enumerate(columns):
            axes = shared = figure.add_subplot(space[row, column], sharey=shared)
            mine = norms[(norms["placement"] == placement) & (norms["state"] == state)]
            embeddings = mine[mine["matrix"] == "embeddings"]["value"]
            mine = mine[mine["stack"] == stack]
            if row == 0:
                axes.set_title(f"{PLACEMENTS[placement]}, {STATES[state]}")
            axes.set_yscale("log")
            for name in _MATRICES:
                rows = mine[mine["matrix"] == name]
                if len(rows):
                    seaborn.lineplot(
                        rows,
                        x="layer",
                        y="value",
                        errorbar=interval,
                        err_kws={"linewidth": 0, "alpha": 0.15},
                        markersize=4,
                        markeredgewidth=0,
                        linewidth=0.9,
                        ax=axes,
                        legend=False,
                        **_LOOKS[name],
                    )
            if len(embeddings):
                axes.axhline(embeddings.mean(), color="0.4", linewidth=0.8, linestyle=":")
            if mine.empty:
                axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", va="center", color="0.3")
                axes.set_xticks([])
            axes.set(xlabel=f"{stack.capitalize()} layer", ylabel="Gradient expectation" if column == 0 else "")
            if column:
                axes.tick_params(labelleft=False)
    below = figure.add_subplot(space[2, :])
    below.set_axis_off()
    handles = [Line2D([], [], markersize=4, linewidth=0.9, label=_LABELS[name], **_LOOKS[name]) for name in _MATRICES]
    handles.append(Line2D([], [], color="0.4", linestyle=":", linewidth=0.8, label="shared embeddings"))
    below.legend(handles=handles, loc="center", ncols=6, frameon=False)
    figure.supxlabel(f"{records.progress}{seeds_of(norms)}", fontsize=6.5, color="0.3")
    return figure
