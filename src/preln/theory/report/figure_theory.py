"""The lemmas, theorem 1 and appendix F beside what was measured; the paper has no such figure."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from preln.config import Study
from preln.libraries import mpl, np, pd, seaborn
from preln.placements import PLACEMENTS, in_order
from preln.placements.base import Stack
from preln.report.core.entries import Figure, NothingDone
from preln.report.core.looks import of_placement
from preln.report.core.records import having
from preln.report.core.statistics import estimate, interval, plus_minus
from preln.report.core.style import NOTE, TEXT_WIDTH
from preln.theory.measurements import DELTA, EPSILON, INITIAL, UNIT_OUTPUT
from preln.theory.report.records import SOURCE, Records, expected_gradients, exponents, is_crowded, profile, sweep

_ROW_HEIGHT = 2.3  # inches
_ACROSS = 3
_ACROSS_LEGEND = 6
_LEGEND_HEIGHT = 0.5
"""The height of a legend above all panels, inches."""
_STRENGTHS = {"encoder": 1.0, "decoder": 0.45}
"""The opacity of a line, which tells the stack."""
_MODELS = {"exact": "proofs' model", "translation": "translation model", "language": "language model"}


def compose(study: Study, records: Records) -> mpl.figure.Figure:
    """The figure of a study's records."""
    measured = records.table
    layers = profile(measured)
    panels: list[tuple[pd.DataFrame, Callable[[mpl.axes.Axes, pd.DataFrame], None]]] = [
        (layers, _hidden_states),
        (layers, _jacobians),
        (having(measured, quantity="excess_share", variant="", state=INITIAL), _boundedness),
        (sweep(measured, "depth"), partial(_law, over="depth", variants=("",))),
        (sweep(measured, "width"), partial(_law, over="width", variants=("", UNIT_OUTPUT))),
        (_by_layer(layers, expected_gradients(measured)), _decay),
    ]
    panels = [(rows, draw) for rows, draw in panels if len(rows)]
    if not panels:
        raise NothingDone
    columns = min(_ACROSS, len(panels))
    down = math.ceil(len(panels) / columns)
    shown = in_order(measured["placement"])
    height = _ROW_HEIGHT * down + _LEGEND_HEIGHT * is_crowded(shown)
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, height), layout="constrained")
    for number, (rows, draw) in enumerate(panels, start=1):
        draw(figure.add_subplot(down, columns, number), rows)
    if is_crowded(shown):
        _share_legend(figure, shown)
        _remove_bands(figure)
    drawn = pd.concat([rows for rows, _ in panels])
    seeds = ", ".join(
        f"{rows['seed'].nunique()} of the {_MODELS[str(model)]}" for model, rows in drawn.groupby("model", sort=False)
    )
    trained = _MODELS["language" if "language" in set(drawn["model"]) else "translation"]
    legend = (
        f"Pale: decoder; open markers: {trained} in (c) and (f), "
        "$W^{emb}$ with entries of variance 1, not 1/d, in (e)"
    )
    means = "Means over seeds" if is_crowded(shown) else "Means over seeds with 95% intervals"
    figure.supxlabel(textwrap.fill(f"{records.progress} {legend}. {means}: {seeds}.", width=150), **NOTE)
    return figure


def _share_legend(figure: mpl.figure.Figure, placements: Sequence[str]) -> None:
    """One legend above the panels in place of one in each, which would hide it; the table has the exponents."""
    for axes in figure.axes:
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    handles = [mpl.lines.Line2D([], [], **of_placement(name), label=PLACEMENTS[name].label) for name in placements]
    figure.legend(handles=handles, loc="outside upper center", ncols=_ACROSS_LEGEND, frameon=False, handlelength=1.8)


def _remove_bands(figure: mpl.figure.Figure) -> None:
    """Leave out the intervals and the shaded bounds, which so many lines would hide, and be hidden by."""
    for axes in figure.axes:
        for band in list(axes.collections):
            band.remove()
        axes.relim()
        axes.autoscale_view()


def _series(
    axes: mpl.axes.Axes,
    rows: pd.DataFrame,
    x: str,
    label: str | None,
    placement: str,
    stack: str,
    open_markers: bool = False,
) -> None:
    """One measured line: the mean over the seeds, with its interval."""
    look = of_placement(placement)
    seaborn.lineplot(
        rows,
        x=x,
        y="value",
        errorbar=interval,
        err_kws={"linewidth": 0, "alpha": 0.2},
        **look,
        alpha=_STRENGTHS[stack],
        markerfacecolor="white" if open_markers else look["color"],
        markeredgecolor=look["color"],
        markeredgewidth=0.7,
        label=label,
        ax=axes,
    )


def _each(rows: pd.DataFrame, axes: mpl.axes.Axes, quantity: str, open_markers: bool = False) -> None:
    for (placement, stack), group in having(rows, quantity=quantity).groupby(["placement", "stack"]):
        name = PLACEMENTS[str(placement)].label if stack == "encoder" else None
        _series(axes, group, "layer", name, str(placement), str(stack), open_markers)


def _hidden_states(axes: mpl.axes.Axes, layers: pd.DataFrame) -> None:
    axes.set_title("(a) Lemma 2: hidden states")
    numbers = sorted(set(layers["layer"]))
    stacks: tuple[tuple[Stack, float], ...] = (("encoder", 0.2), ("decoder", 0.1))
    for placement, (stack, alpha) in itertools.product(in_order(layers["placement"]), stacks):
        if lemma := PLACEMENTS[placement].predictions.square_norm:
            low, high = zip(*(lemma(layer, stack) for layer in numbers), strict=True)
            if low != high or len(set(low)) > 1:
                axes.fill_between(numbers, low, high, color=PLACEMENTS[placement].colour, alpha=alpha, linewidth=0)
            elif stack == "encoder":
                axes.axhline(low[0], color="0.4", linewidth=0.8, linestyle=":")
    _each(layers, axes, "square_norm")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    _name(axes, "Layer", "$E\\|x\\|^2/d$ (shaded, dotted: lemma)", legend=True)


def _jacobians(axes: mpl.axes.Axes, layers: pd.DataFrame) -> None:
    axes.set_title("(b) Lemma 3: Jacobian of LayerNorm")
    _each(layers, axes, "jacobian_norm")
    closed = having(layers, quantity="jacobian_closed_form")
    means = closed.groupby(["placement", "stack", "layer"], as_index=False)["value"].mean()
    for _, group in means.groupby(["placement", "stack"]):
        axes.plot(group["layer"], group["value"], color="black", linewidth=0.9, linestyle=":", zorder=5)
    _name(axes, "Layer", "Spectral norm (dotted: lemma)")


def _boundedness(axes: mpl.axes.Axes, rows: pd.DataFrame) -> None:
    axes.set_title("(c) Definition 1: boundedness")
    # Where both were measured, what the paper measured: the exact model's share differs so much between seeds that it
    # would hide the other's.
    trained = rows[rows["model"] != "exact"]
    _each(rows if trained.empty else trained, axes, "excess_share", open_markers=not trained.empty)
    axes.axhline(DELTA, color="0.4", linewidth=0.8, linestyle=":")
    look: dict[str, Any] = {"fontsize": 6, "color": "0.3", "ha": "right", "va": "top"}
    axes.annotate(f"paper: {DELTA}", (0.98, 0.98 * DELTA), xycoords=("axes fraction", "data"), **look)
    # A share is not negative, though the interval of a mean may reach below.
    axes.set_ylim(bottom=-0.01)
    _name(axes, "Layer", f"Share above {1 + EPSILON:g} of the mean")


def _law(axes: mpl.axes.Axes, swept: pd.DataFrame, over: str, variants: tuple[str, ...]) -> None:
    axes.set_title(f"({'d' if over == 'depth' else 'e'}) Theorem 1: {over}")
    for variant in variants:
        for placement in in_order(swept["placement"]):
            curve = having(swept, placement=placement, variant=variant)
            slope = estimate(exponents(curve, over))
            # Plus zero, for a zero that has no sign.
            middle = round(slope.mean, 2) + 0
            power = "none" if math.isnan(slope.mean) else plus_minus(middle, slope.half, ".2f", ".2f")
            name = f"{PLACEMENTS[placement].label}: {power}"
            _series(axes, curve, over, name, placement, "encoder", open_markers=bool(variant))
    axes.set(xscale="log", yscale="log")
    values = sorted(set(swept[over]))
    axes.set_xticks(values, [str(value) for value in values])
    axes.minorticks_off()
    axes.yaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5) if over == "depth" else (1,)))
    axes.yaxis.set_major_formatter("{x:g}")
    # Room for the legend.
    axes.set_ylim(top=axes.get_ylim()[1] * (1.5 if over == "depth" else 30))
    _name(axes, {"depth": "Layers L", "width": "Width d"}[over], "$\\|\\nabla W^{2,L}\\|_F$", legend=True)


def _by_layer(layers: pd.DataFrame, trained: pd.DataFrame) -> pd.DataFrame:
    exact = having(layers, quantity="gradient_norm", variant="")
    initial = having(trained, variant="", state=INITIAL)
    rows = having(pd.concat([exact, having(initial, depth=initial["depth"].min())]), matrix="W2")
    return rows[rows["stack"] != ""]


def _decay(axes: mpl.axes.Axes, rows: pd.DataFrame) -> None:
    axes.set_title("(f) Appendix F: $\\nabla W^2$ by layer")
    # Relative to the last layer, seed by seed.
    keys = ["model", "placement", "stack", "seed"]
    last = having(rows, layer=rows["depth"]).set_index(keys)["value"].rename("last")
    rows = rows.join(last, on=keys)
    rows = rows.assign(value=rows["value"] / rows["last"], below=rows["depth"] - rows["layer"])
    for (model, placement, stack), group in rows.groupby(["model", "placement", "stack"]):
        _series(axes, group, "below", None, str(placement), str(stack), open_markers=model != "exact")
    below = np.arange(int(rows["below"].max()) + 1)
    # Appendix F on the model of the proofs, where lemma 2 gives one number; a gradient that does not grow is left out.
    factors = []
    for placement in in_order(rows["placement"]):
        predictions = PLACEMENTS[placement].predictions
        low, high = predictions.square_norm(1, "encoder") if predictions.square_norm else (math.nan, math.nan)
        factor = predictions.growth(low) if predictions.growth and low == high else 1.0
        if factor != 1:
            axes.plot(below, factor ** -below.astype(float), color="0.4", linewidth=0.8, linestyle=":")
            factors.append(f"{1 / factor:.3f}")
    axes.set_yscale("log")
    # An interval of a ratio may reach to zero, which a logarithm would follow.
    low = rows.groupby([*keys[:3], "below"])["value"].mean().min()
    axes.set_ylim(bottom=max(axes.get_ylim()[0], 0.5 * low))
    if factors:
        text = f"dotted: × {', '.join(factors)} per layer"
        axes.text(0.04, 0.05, text, transform=axes.transAxes, fontsize=6, color="0.3")
    _name(axes, "Layers below the last", "$\\|\\nabla W^2\\|_F$, last layer = 1")


def _name(axes: mpl.axes.Axes, x: str, y: str, legend: bool = False) -> None:
    axes.set(xlabel=x, ylabel=y)
    if axes.get_xscale() == "linear":
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    if legend:
        axes.legend(frameon=False, fontsize=6, handlelength=1.8, labelspacing=0.2)
    elif (shown := axes.get_legend()) is not None:
        shown.remove()


FIGURE = Figure(
    name="theory",
    title="The lemmas, theorem 1 and appendix F beside what was measured",
    caption="The lemmas, theorem 1 and appendix F, beside what was measured. Pale lines are the decoder of the "
    "paper's proofs, and the others its encoder. (a) Squared norms of the residual sums; dotted is 3/2 for "
    "Post-LN, and shaded are the bounds for Pre-LN. (b) Spectral norm of LayerNorm's Jacobian at these sums; "
    "dotted is the lemma. (c) Share of the squared norms that exceed their mean by more than a tenth; open "
    "markers are the model as it is trained. (d) and (e) Norm of the last layer's gradient by depth and by width, "
    "with the exponents of the power laws; open markers in (e) have an output matrix whose entries have "
    "variance 1, the others 1/d, as trained models have. (f) Gradient of W2 by layer, relative to the last; "
    "open markers are the model as it is trained, and dotted is the factor of appendix F.",
    source=SOURCE,
    compose=compose,
)
