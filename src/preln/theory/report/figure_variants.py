"""Figure 3's bars of W^2 in the first and the last decoder layer, with what the paper leaves open varied."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from preln.config import Study
from preln.libraries import mpl, pd
from preln.placements import PLACEMENTS, in_order
from preln.report.core.entries import Figure, NothingDone
from preln.report.core.records import having
from preln.report.core.statistics import Estimate, estimate
from preln.report.core.style import NOTE, TEXT_WIDTH, plain_ticks
from preln.theory.measurement_jobs import GradientJob, MeasurementJob
from preln.theory.measurements import INITIAL
from preln.theory.report.records import SOURCE, Records, expected_gradients

_ROW_HEIGHT = 0.19  # inches
_LABEL = 58
"""Characters of a line of a row's label."""
_AS_TRAINED = "as the study trains it"
_PAPER = "the paper"


def varied(study: Study, jobs: Sequence[MeasurementJob]) -> Sequence[MeasurementJob]:
    """The parts that measure gradients at initialisation, at the least depth that has variants; none without them."""
    gradients = [job for job in jobs if isinstance(job, GradientJob) and not job.trained]
    depths = {job.settings.decoder_layers for job in gradients if job.variant}
    return [job for job in gradients if depths and job.settings.decoder_layers == min(depths)]


def values(records: Records) -> pd.DataFrame:
    """The bars of W^2 of each seed: `placement`, `variant` (empty for the model as it is trained), `end` (`first` or
    `last` layer), `seed` and `value`."""
    norms = having(expected_gradients(records.table), stack="decoder", matrix="W2", state=INITIAL)
    ends = [having(norms, layer=layer).assign(end=end) for end, layer in (("first", 1), ("last", norms["depth"]))]
    return pd.concat(ends)[["placement", "variant", "end", "seed", "value"]]


def compose(study: Study, records: Records) -> mpl.figure.Figure:
    """The figure of a study's records: a panel for each placement, a row for each variant."""
    gradients = values(records)
    if not len(gradients):
        raise NothingDone
    names = sorted(set(gradients["variant"]), key=lambda name: (name.count("+") + (name != ""), name))
    placements = in_order(gradients["placement"])
    height = _ROW_HEIGHT * (len(names) + 1) + 0.9
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, height), layout="constrained")
    panels = figure.subplots(1, len(placements), squeeze=False, sharex=True, sharey=True)[0]
    for axes, placement in zip(panels, placements, strict=True):
        _draw(axes, placement, having(gradients, placement=placement), names, records)
    rows = [
        textwrap.fill(name.replace("+", " + "), _LABEL, break_on_hyphens=False) if name else _AS_TRAINED
        for name in names
    ]
    labels = [_PAPER, *rows] if records.bars else rows
    panels[0].set_yticks(range(len(names) + 1 - len(labels), len(names) + 1), labels, fontsize=6, linespacing=0.85)
    panels[0].set_ylim(len(names) + 0.5, 0.5 - len(labels) + len(names))
    look: dict[str, Any] = {"color": "0.3", "linestyle": "none", "marker": "o", "markersize": 4}
    handles = [
        mpl.lines.Line2D([], [], markerfacecolor="white", label="first decoder layer", **look),
        mpl.lines.Line2D([], [], label="last decoder layer", **look),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    note = f"{records.progress} Means over {gradients['seed'].nunique()} seeds with 95% intervals."
    figure.supxlabel(note, **NOTE)
    return figure


def _draw(axes: mpl.axes.Axes, placement: str, gradients: pd.DataFrame, names: Sequence[str], records: Records) -> None:
    """The two bars of each variant, joined, below those of the paper."""
    colour = PLACEMENTS[placement].colour
    last = max((bar.layer for bar in records.bars), default=0)
    known = {bar.layer: bar.value for bar in records.bars if bar.placement == placement and bar.matrix == "W2"}
    if known:
        first, end = (Estimate(known[layer], math.nan, math.nan, 0) for layer in (1, last))
        _row(axes, 0, first, end, "black")
        for layer in (1, last):
            axes.axvline(known[layer], color="0.5", linewidth=0.7, linestyle=":")
    for y, name in enumerate(names, start=1):
        bars = having(gradients, variant=name).groupby("end")["value"]
        if len(bars):
            first, end = (estimate(bars.get_group(layer).tolist()) for layer in ("first", "last"))
            _row(axes, y, first, end, colour)
    axes.set(title=PLACEMENTS[placement].label, xlabel=r"Gradient expectation of $W^2$")
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)


def _row(axes: mpl.axes.Axes, y: int, first: Estimate, last: Estimate, colour: str) -> None:
    axes.plot([first.mean, last.mean], [y, y], color=colour, linewidth=0.7)
    for bar, filling in ((first, "white"), (last, colour)):
        if bar.n > 1:
            axes.plot([bar.low, bar.high], [y, y], color=colour, linewidth=2.2, alpha=0.35)
        axes.plot(bar.mean, y, marker="o", markersize=4, color=colour, markerfacecolor=filling, linestyle="none")


FIGURE = Figure(
    name="variants",
    title="Figure 3 with what the paper leaves open varied",
    caption="The expected gradients of W^2 in the first and the last decoder layer at initialisation, for the model as "
    "the study trains it, and with some of its properties changed. The dotted lines are the paper's bars, where the "
    "model is the paper's. The paper does not say how its weights were drawn, nor whether its gradients are of the "
    "smoothed loss and with dropout.",
    source=SOURCE,
    of=varied,
    compose=compose,
)
