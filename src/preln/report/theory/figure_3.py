"""Figure 3: the expected gradients of the decoder's feed-forward sub-layers (section 3.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from preln.placements import PAPER, in_order
from preln.placements import PLACEMENTS as RECORDS
from preln.report.core.labels import PLACEMENTS
from preln.report.core.save_figure import say_empty
from preln.report.core.statistics import interval
from preln.report.core.style import AFTER_WARMUP, TEXT_WIDTH
from preln.report.reference import gradients as paper
from preln.report.reference.gradients import Bar
from preln.report.theory.records import STATES, Records, expected_gradients, seeds_of

_ROW_HEIGHT, _LEGEND_HEIGHT = 2.0, 0.3  # inches
_PAPER: dict[str, Any] = {
    "color": "black",
    "marker": "D",
    "markersize": 3.2,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
}


def compose(records: Records) -> Figure:
    """The figure of a study's records."""
    norms = expected_gradients(records.table)
    norms = norms[(norms["stack"] == "decoder") & (norms["variant"] == "")]
    norms = norms.assign(series=[_name(*pair) for pair in zip(norms["placement"], norms["state"], strict=True)])
    # The paper's two, and what else the study has.
    placements = in_order([*PAPER, *norms["placement"]])
    rows = 1 + math.ceil(len(placements) / 2)
    figure = Figure(figsize=(TEXT_WIDTH, _ROW_HEIGHT * rows + _LEGEND_HEIGHT), layout="constrained")
    space = figure.add_gridspec(rows + 1, 2, height_ratios=[1] * rows + [0.16])
    looks = _looks(norms)
    letters = iter(ascii_lowercase)
    for column, matrix in enumerate(("W1", "W2")):
        _by_layer(figure.add_subplot(space[0, column]), norms, looks, records.bars, next(letters), matrix)
    for number, placement in enumerate(placements, start=2):
        axes = figure.add_subplot(space[number // 2, number % 2])
        _by_depth(axes, norms, looks, records.bars, next(letters), placement)
    below = figure.add_subplot(space[rows, :])
    below.set_axis_off()
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=name)
        for name, (colour, hatch) in looks.items()
    ]
    if records.bars:
        handles.append(Line2D([], [], linestyle="none", **_PAPER, label="the paper's bar (digitised or read off)"))
        handles.append(Line2D([], [], color="black", linestyle=":", linewidth=0.9, label="the paper's “around 1.6”"))
    below.legend(handles=handles, loc="center", ncols=3, frameon=False)
    figure.supxlabel(f"{records.progress}{seeds_of(norms)}", fontsize=6.5, color="0.3")
    return figure


def _name(placement: str, state: str) -> str:
    return f"{PLACEMENTS[placement]}, {STATES[state]}"


Looks = dict[str, tuple[str, str]]
"""Colour and hatching of the bars of each model."""


def _looks(norms: pd.DataFrame) -> Looks:
    """The looks of what is measured; Pre-LN's bars come first, as in the paper."""
    measured = set(zip(norms["placement"], norms["state"], strict=True))
    return {
        _name(name, state): (RECORDS[name].colour, RECORDS[name].hatch) if state == "initial" else AFTER_WARMUP
        for name in sorted(in_order(norms["placement"]), key=lambda name: name != "pre")
        for state in STATES
        if (name, state) in measured
    }


def _by_layer(axes: Axes, norms: pd.DataFrame, looks: Looks, bars: Sequence[Bar], letter: str, matrix: str) -> None:
    """A bar for each layer and model."""
    axes.set_title(f"({letter}) $W^{matrix[1]}$ in the FFN sub-layers")
    if norms.empty:
        say_empty(axes)
        return
    depth = int(norms["depth"].min())
    mine = norms[(norms["depth"] == depth) & (norms["matrix"] == matrix)]
    names = [name for name in looks if name in set(mine["series"])]
    _bars(axes, mine, "layer", {name: looks[name] for name in names})
    for bar in bars:
        name = _name(bar.placement, bar.state)
        if bar.matrix == matrix and name in names:
            offset = 0.8 * ((names.index(name) + 0.5) / len(names) - 0.5)
            axes.plot(bar.layer - 1 + offset, bar.value, linestyle="none", **_PAPER)
    axes.set(xlabel=f"Decoder layer of {depth}-{depth}", ylabel="Gradient expectation")


def _by_depth(axes: Axes, norms: pd.DataFrame, looks: Looks, bars: Sequence[Bar], letter: str, placement: str) -> None:
    """A bar for each depth of the model: the last layer's gradient."""
    axes.set_title(f"({letter}) $W^2$ of the last FFN sub-layer, {PLACEMENTS[placement]}")
    mine = norms[(norms["matrix"] == "W2") & (norms["placement"] == placement) & (norms["state"] == "initial")]
    mine = mine[mine["layer"] == mine["depth"]]
    if mine.empty:
        say_empty(axes)
        return
    name = _name(placement, "initial")
    _bars(axes, mine, "depth", {name: looks[name]})
    axes.set_xticks(axes.get_xticks(), [f"{depth}-{depth}" for depth in sorted(set(mine["depth"]))])
    if placement in paper.AROUND and any(bar.placement == placement and bar.state == "initial" for bar in bars):
        axes.axhline(paper.AROUND[placement], color="black", linestyle=":", linewidth=0.9)
    axes.set(xlabel="Layers of encoder and decoder", ylabel="Gradient expectation")


def _bars(axes: Axes, mine: pd.DataFrame, x: str, looks: Looks) -> None:
    """Bars of the means over the seeds, with their 95% intervals."""
    seaborn.barplot(
        mine,
        x=x,
        y="value",
        hue="series",
        hue_order=list(looks),
        palette={name: colour for name, (colour, _) in looks.items()},
        saturation=1,
        errorbar=interval,
        err_kws={"linewidth": 0.8, "color": "0.25"},
        legend=False,
        ax=axes,
    )
    for container, (_, hatch) in zip(axes.containers, looks.values(), strict=False):
        for bar in container:
            bar.set(hatch=hatch, edgecolor="white", linewidth=0)
    axes.grid(axis="x", visible=False)
