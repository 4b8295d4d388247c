"""Figure 3: the expected gradients of the decoder's feed-forward sub-layers (section 3.4)."""

from __future__ import annotations

import math
import textwrap
from string import ascii_lowercase
from typing import Any

from preln.config import Study
from preln.libraries import mpl, pd, seaborn
from preln.placements import PAPER as COMPARED
from preln.placements import PLACEMENTS, in_order
from preln.report.core.curves import PAPER, Curves, means
from preln.report.core.entries import Figure, NothingDone
from preln.report.core.looks import AFTER_WARMUP, of_placement
from preln.report.core.records import having
from preln.report.core.statistics import interval
from preln.report.core.style import NOTE, TEXT_WIDTH, legend_below
from preln.report.reference import gradients as paper
from preln.theory.measurements import INITIAL
from preln.theory.report.records import (
    SOURCE,
    STATES,
    UNBIASED,
    Records,
    expected_gradients,
    layers_of,
    legible,
    seeds_of,
    without_bias,
)

_ROW_HEIGHT = 1.99  # inches
_LEGEND_HEIGHT = 0.32
_UNBIASED: dict[str, Any] = {
    "color": "black",
    "marker": "o",
    "markersize": 2.8,
    "markerfacecolor": "white",
    "markeredgewidth": 0.7,
}
_PAPER: dict[str, Any] = {
    "color": "black",
    "marker": "D",
    "markersize": 3.2,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
}


def compose(study: Study, records: Records) -> mpl.figure.Figure:
    """The figure of a study's records."""
    norms = _of_the_decoder(expected_gradients(records.table))
    squares = _of_the_decoder(records.table[records.table["quantity"].isin(UNBIASED)])
    looks = _looks(norms)
    panels: list[tuple[str, str, str, pd.DataFrame, pd.DataFrame]] = []
    for matrix in ("W1", "W2"):
        shown, unbiased = (having(table, depth=norms["depth"].min(), matrix=matrix) for table in (norms, squares))
        panels.append((f"$W^{matrix[1]}$ in the FFN sub-layers", "layer", matrix, shown, unbiased))
    # The paper's two, and what else the study has.
    for placement in in_order([*COMPARED, *having(norms, state=INITIAL)["placement"]]):
        shown, unbiased = (
            having(table, matrix="W2", layer=table["depth"], curve=_name(placement, INITIAL))
            for table in (norms, squares)
        )
        title = f"$W^2$ of the last FFN sub-layer, {PLACEMENTS[placement].label}"
        panels.append((title, "depth", placement, shown, unbiased))
    # A panel that is left out leaves the others the letters by which the caption names them.
    lettered = [(letter, *panel) for letter, panel in zip(ascii_lowercase, panels, strict=False) if len(panel[3])]
    if not lettered:
        raise NothingDone
    columns = min(2, len(lettered))
    down = math.ceil(len(lettered) / columns)
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, _ROW_HEIGHT * down + _LEGEND_HEIGHT), layout="constrained")
    space = figure.add_gridspec(down + 1, columns, height_ratios=[*([1] * down), 0.16])
    for number, (letter, title, x, subject, shown, unbiased) in enumerate(lettered):
        axes = figure.add_subplot(space[number // columns, number % columns], title=f"({letter}) {title}")
        places = _bars(axes, shown, unbiased, x, looks)
        values = sorted(set(shown[x]))
        if x == "depth":
            axes.set_xticks(axes.get_xticks(), [layers_of(depth, norms) for depth in values])
            if subject in paper.AROUND and any(
                (bar.placement, bar.state) == (subject, INITIAL) for bar in records.bars
            ):
                axes.axhline(paper.AROUND[subject], color="black", linestyle=":", linewidth=0.9)
        for bar in records.bars if x == "layer" else ():
            if (
                bar.matrix == subject
                and (place := places.get((_name(bar.placement, bar.state), bar.layer))) is not None
            ):
                axes.plot(place, bar.value, linestyle="none", **_PAPER)
        layers = layers_of(shown["depth"].iloc[0], norms)
        depths = "Layers of encoder and decoder" if "-" in layers else "Layers"
        label = depths if x == "depth" else f"Decoder layer of {layers}"
        axes.set(xlabel=label, ylabel="Gradient expectation")
    handles: list[mpl.patches.Patch | mpl.lines.Line2D] = [
        mpl.patches.Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=name)
        for name, (colour, hatch) in looks.items()
    ]
    if records.bars:
        handles.append(
            mpl.lines.Line2D([], [], linestyle="none", **_PAPER, label="the paper's bar (digitised or read off)")
        )
        handles.append(
            mpl.lines.Line2D([], [], color="black", linestyle=":", linewidth=0.9, label="the paper's “around 1.6”")
        )
    if len(squares):
        label = "without the mini-batches' noise, ± one standard error"
        handles.append(mpl.lines.Line2D([], [], linestyle="none", **_UNBIASED, label=label))
    legend_below(figure, space[-1, :], handles, loc="center", ncols=3)
    figure.supxlabel(textwrap.fill(f"{records.progress}{seeds_of(norms)}", width=150), **NOTE)
    return figure


def _of_the_decoder(measured: pd.DataFrame) -> pd.DataFrame:
    """The rows of the decoders of the models as they are trained, with the name of each model as their `curve`."""
    rows = having(measured, stack="decoder", variant="")
    return rows.assign(curve=[_name(*model) for model in zip(rows["placement"], rows["state"], strict=True)])


def _name(placement: str, state: str) -> str:
    return f"{PLACEMENTS[placement].label}, {STATES[state]}"


Looks = dict[str, tuple[str, str]]
"""Colour and hatching of the bars of each model."""


def _looks(norms: pd.DataFrame) -> Looks:
    """The looks of what is measured; Pre-LN's bars come first, as in the paper."""
    measured = set(norms["curve"])
    return {
        _name(name, state): _look(name, state)
        for name in sorted(in_order(norms["placement"]), key=lambda name: name != "pre")
        for state in STATES
        if _name(name, state) in measured
    }


def _look(placement: str, state: str) -> tuple[str, str]:
    return (PLACEMENTS[placement].colour, PLACEMENTS[placement].hatch) if state == INITIAL else AFTER_WARMUP


def _bars(
    axes: mpl.axes.Axes, norms: pd.DataFrame, squares: pd.DataFrame, x: str, looks: Looks
) -> dict[tuple[str, int], float]:
    """Draw the means over the seeds with their 95% intervals, and on each bar the gradient without the mini-batches'
    noise; return where each bar stands, by its model and its `x`."""
    looks = {name: look for name, look in looks.items() if name in set(norms["curve"])}
    seaborn.barplot(
        norms,
        x=x,
        y="value",
        hue="curve",
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
    places = {
        (name, value): place + 0.8 * ((number + 0.5) / len(looks) - 0.5)
        for number, name in enumerate(looks)
        for place, value in enumerate(sorted(set(norms[x])))
    }
    for (name, value), group in squares.groupby(["curve", x]):
        gradient = without_bias(group)
        look = {**_UNBIASED, "linestyle": "none", "elinewidth": 0.7, "zorder": 4}
        axes.errorbar(places[str(name), value], gradient.norm, yerr=gradient.error, **look)
    return places


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers: the gradients of the decoder's W^2 by layer, and of the last layer by depth."""
    norms = having(_of_the_decoder(expected_gradients(records.table)), matrix="W2")
    if norms.empty:
        return []
    last = having(norms, layer=norms["depth"], state=INITIAL)
    printed = [(f"{PAPER}: {_name(bar.placement, bar.state)}", bar) for bar in records.bars if bar.matrix == "W2"]
    bars: list[dict[str, Any]] = [{"curve": name, "layer": bar.layer, "value": bar.value} for name, bar in printed]
    placements = dict(zip(norms["curve"], norms["placement"], strict=True))
    looks = {name: {**of_placement(placements[name]), "color": colour} for name, (colour, _) in _looks(norms).items()}
    for name, bar in printed:
        colour, _ = _look(bar.placement, bar.state)
        looks[name] = {"color": colour, "marker": "D", "linestyle": ":"}
    by_layer = means(having(norms, depth=norms["depth"].min()), "layer")
    title = "Expected gradient of W² by decoder layer"
    curves = [Curves(title, "layer", "Layer", "Norm", by_layer, pd.DataFrame(bars), looks)]
    if last["depth"].nunique() > 1:
        title, by_depth = "The last layer's, by depth", means(last, "depth")
        looks = {name: looks[name] for name in by_depth["curve"]}
        curves.append(Curves(title, "depth", "Layers of the decoder", "Norm", by_depth, pd.DataFrame(), looks))
    return curves


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
