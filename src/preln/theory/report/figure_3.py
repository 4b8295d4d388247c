"""Figure 3: the expected gradients of the decoder's feed-forward sub-layers (section 3.4)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.libraries import pd
from preln.placements import PAPER as COMPARED
from preln.placements import PLACEMENTS, in_order
from preln.report.core.curves import PAPER, Curves, means
from preln.report.core.figure import Figure, NothingDone
from preln.report.core.statistics import interval
from preln.report.core.style import AFTER_WARMUP_LOOK, NOTE, TEXT_WIDTH, legend_below
from preln.report.reference import gradients as paper
from preln.report.reference.gradients import Bar
from preln.theory.measurements import INITIAL
from preln.theory.report.records import (
    SOURCE,
    STATES,
    UNBIASED,
    Records,
    expected_gradients,
    legible,
    seeds_of,
    without_bias,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_ROW_HEIGHT = 1.99  # inches
_LEGEND_HEIGHT = 0.32
_ALONE: dict[str, Any] = {
    "color": "black",
    "marker": "o",
    "markersize": 2.8,
    "markerfacecolor": "white",
    "markeredgewidth": 0.7,
    "elinewidth": 0.7,
}
_PAPER: dict[str, Any] = {
    "color": "black",
    "marker": "D",
    "markersize": 3.2,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
}


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    norms = _of_the_decoder(expected_gradients(records.table))
    squares = _of_the_decoder(records.table[records.table["quantity"].isin(UNBIASED)])
    looks = _looks(norms)
    letters = iter(ascii_lowercase)
    panels: list[tuple[pd.DataFrame, Callable[[Axes, pd.DataFrame], None]]] = []
    for matrix in ("W1", "W2"):
        mine = norms[(norms["depth"] == norms["depth"].min()) & (norms["matrix"] == matrix)]
        of_matrix = partial(
            _by_layer, looks=looks, bars=records.bars, squares=squares, letter=next(letters), matrix=matrix
        )
        panels.append((mine, of_matrix))
    last = norms[(norms["matrix"] == "W2") & (norms["layer"] == norms["depth"]) & (norms["state"] == INITIAL)]
    # The paper's two, and what else the study has.
    for placement in in_order([*COMPARED, *last["placement"]]):
        mine = last[last["placement"] == placement]
        of_placement = partial(
            _by_depth, looks=looks, bars=records.bars, squares=squares, letter=next(letters), placement=placement
        )
        panels.append((mine, of_placement))
    # The others keep the letters by which the caption names them.
    panels = [(mine, draw) for mine, draw in panels if len(mine)]
    if not panels:
        raise NothingDone
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Drawing(figsize=(TEXT_WIDTH, _ROW_HEIGHT * rows + _LEGEND_HEIGHT), layout="constrained")
    space = figure.add_gridspec(rows + 1, columns, height_ratios=[*([1] * rows), 0.16])
    for number, (mine, draw) in enumerate(panels):
        draw(figure.add_subplot(space[number // columns, number % columns]), mine)
    handles: list[Patch | Line2D] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=name)
        for name, (colour, hatch) in looks.items()
    ]
    if records.bars:
        handles.append(Line2D([], [], linestyle="none", **_PAPER, label="the paper's bar (digitised or read off)"))
        handles.append(Line2D([], [], color="black", linestyle=":", linewidth=0.9, label="the paper's “around 1.6”"))
    if len(squares):
        about = "without the mini-batches' noise, ± one standard error"
        look = {key: value for key, value in _ALONE.items() if key != "elinewidth"}
        handles.append(Line2D([], [], linestyle="none", **look, label=about))
    legend_below(figure, space[-1, :], handles, loc="center", ncols=3)
    figure.supxlabel(textwrap.fill(f"{records.progress}{seeds_of(norms)}", width=150), **NOTE)
    return figure


def _of_the_decoder(measured: pd.DataFrame) -> pd.DataFrame:
    """The rows of the decoders of the models as they are trained, with the name of each model."""
    mine = measured[(measured["stack"] == "decoder") & (measured["variant"] == "")]
    return mine.assign(series=[_name(*pair) for pair in zip(mine["placement"], mine["state"], strict=True)])


def _name(placement: str, state: str) -> str:
    return f"{PLACEMENTS[placement].label}, {STATES[state]}"


Looks = dict[str, tuple[str, str]]
"""Colour and hatching of the bars of each model."""


def _looks(norms: pd.DataFrame) -> Looks:
    """The looks of what is measured; Pre-LN's bars come first, as in the paper."""
    measured = set(zip(norms["placement"], norms["state"], strict=True))
    return {
        _name(name, state): (PLACEMENTS[name].colour, PLACEMENTS[name].hatch) if state == INITIAL else AFTER_WARMUP_LOOK
        for name in sorted(in_order(norms["placement"]), key=lambda name: name != "pre")
        for state in STATES
        if (name, state) in measured
    }


def _by_layer(
    axes: Axes,
    mine: pd.DataFrame,
    looks: Looks,
    bars: Sequence[Bar],
    squares: pd.DataFrame,
    letter: str,
    matrix: str,
) -> None:
    """A bar for each layer and model."""
    axes.set_title(f"({letter}) $W^{matrix[1]}$ in the FFN sub-layers")
    names = [name for name in looks if name in set(mine["series"])]
    _bars(axes, mine, "layer", {name: looks[name] for name in names})
    offsets = {name: 0.8 * ((number + 0.5) / len(names) - 0.5) for number, name in enumerate(names)}
    of_matrix = squares[(squares["matrix"] == matrix) & (squares["depth"] == mine["depth"].iloc[0])]
    for (name, layer), group in of_matrix.groupby(["series", "layer"]):
        _without_bias(axes, int(layer) - 1 + offsets[str(name)], group)
    for bar in bars:
        name = _name(bar.placement, bar.state)
        if bar.matrix == matrix and name in names:
            offset = offsets[name]
            axes.plot(bar.layer - 1 + offset, bar.value, linestyle="none", **_PAPER)
    axes.set(xlabel=f"Decoder layer of {(depth := mine['depth'].iloc[0])}-{depth}", ylabel="Gradient expectation")


def _by_depth(
    axes: Axes,
    mine: pd.DataFrame,
    looks: Looks,
    bars: Sequence[Bar],
    squares: pd.DataFrame,
    letter: str,
    placement: str,
) -> None:
    """A bar for each depth of the model: the last layer's gradient."""
    axes.set_title(f"({letter}) $W^2$ of the last FFN sub-layer, {PLACEMENTS[placement].label}")
    name = _name(placement, INITIAL)
    _bars(axes, mine, "depth", {name: looks[name]})
    depths = sorted(set(mine["depth"]))
    axes.set_xticks(axes.get_xticks(), [f"{depth}-{depth}" for depth in depths])
    last = squares[(squares["series"] == name) & (squares["matrix"] == "W2") & (squares["layer"] == squares["depth"])]
    for depth, group in last.groupby("depth"):
        _without_bias(axes, depths.index(depth), group)
    if placement in paper.AROUND and any(bar.placement == placement and bar.state == INITIAL for bar in bars):
        axes.axhline(paper.AROUND[placement], color="black", linestyle=":", linewidth=0.9)
    axes.set(xlabel="Layers of encoder and decoder", ylabel="Gradient expectation")


def _without_bias(axes: Axes, x: float, measured: pd.DataFrame) -> None:
    """The gradient without the noise of the mini-batches, on its bar."""
    found = without_bias(measured)
    axes.errorbar(x, found.norm, yerr=found.error, linestyle="none", **_ALONE, zorder=4)


def _bars(axes: Axes, mine: pd.DataFrame, x: str, looks: Looks) -> None:
    """Bars of the means over the seeds, with their 95% intervals."""
    import seaborn

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


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers: the gradients of the decoder's W^2 by layer, and of the last layer by depth."""
    norms = expected_gradients(records.table)
    norms = norms[(norms["stack"] == "decoder") & (norms["variant"] == "") & (norms["matrix"] == "W2")]
    if norms.empty:
        return []
    norms = norms.assign(curve=[_name(*pair) for pair in zip(norms["placement"], norms["state"], strict=True)])
    first = norms[norms["depth"] == norms["depth"].min()]
    last = norms[(norms["layer"] == norms["depth"]) & (norms["state"] == INITIAL)]
    bars = [
        {"curve": f"{PAPER}: {_name(bar.placement, bar.state)}", "layer": bar.layer, "value": bar.value}
        for bar in records.bars
        if bar.matrix == "W2"
    ]
    title = "Expected gradient of W² by decoder layer"
    found = [Curves(title, "layer", "Layer", "Norm", means(first, "layer"), pd.DataFrame(bars))]
    if last["depth"].nunique() > 1:
        title, axis = "The last layer's, by depth", "Layers of the decoder"
        found.append(Curves(title, "depth", axis, "Norm", means(last, "depth"), pd.DataFrame()))
    return found


FIGURE = Figure(
    name="3",
    title="Gradients of the decoder's feed-forward sub-layers (section 3.4)",
    caption="The expected gradient of each matrix: each entry's mean over the mini-batches, then the Frobenius norm. "
    "(a) and (b) are of every layer, at initialisation and, for Post-LN, at the end of the warm-up of the "
    "study's own run. (c) and (d) are of the last layer at initialisation, by the depth of the model. Bars "
    "are means over seeds with their 95% intervals. Circles, where they were measured, are without the noise of the "
    "mini-batches, which makes the bars too high, with one standard error. Diamonds, beside models that are the "
    "paper's, are its own bars: those of W2 are digitised, and those of W1 read off by eye.\n\n"
    "The paper (section 3.4) states that Post-LN's gradient grows towards the output and remains around 1.6 "
    "in the last layer at every depth, while Pre-LN's is about the same in every layer and falls with the "
    "depth.",
    source=SOURCE,
    of=legible,
    compose=compose,
    curves=curves,
)
