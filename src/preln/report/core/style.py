"""The sizes and letters of every figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preln.libraries import mpl

TEXT_WIDTH = 6.75
"""Width of a page's text in the ICML style, inches; a figure of one column has `COLUMN_WIDTH`."""
COLUMN_WIDTH = 3.25

NOTE: dict[str, Any] = {"fontsize": 6.5, "color": "0.3"}
"""The look of the note below a figure."""

RC: dict[Any, Any] = {
    # A Times-like face that comes with matplotlib, so that a figure is the same on every machine.
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 150,
    "pdf.fonttype": 42,
    # Without a fixed salt the identifiers inside an SVG file differ from run to run.
    "svg.hashsalt": "preln",
}


def plain_ticks(axis: mpl.axis.Axis, most: int = 10) -> None:
    """Mark 1, 2 and 5 of each decade on a logarithmic axis with its data drawn, as numbers without powers; fewer where
    these are more than `most`, and every digit where they are fewer than two."""
    low, high = axis.get_view_interval()

    def marks(parts: Sequence[int]) -> list[float]:
        return [part * 10.0**power for power in range(-4, 4) for part in parts if low < part * 10.0**power < high]

    choices = [marks(parts) for parts in ((1, 2, 5), (1, 3), (1,))]
    ticks = next((ticks for ticks in choices if len(ticks) <= most), choices[-1])
    axis.set_ticks(ticks if len(ticks) > 1 else marks(range(1, 10)))
    axis.set_major_formatter("{x:g}")
    axis.set_ticks([], minor=True)


def legend_below(
    figure: mpl.figure.Figure, cell: mpl.gridspec.SubplotSpec, handles: Sequence[Any], **look: Any
) -> None:
    """A legend in a cell of the figure's grid that has no panel; `look` is in the terms of `Axes.legend`."""
    axes = figure.add_subplot(cell)
    axes.set_axis_off()
    axes.legend(handles=handles, frameon=False, **look)


def cross(colour: str) -> dict[str, Any]:
    """The mark of a run that diverged."""
    return {"color": colour, "linestyle": "none", "marker": "x", "markersize": 6, "markeredgewidth": 1.4}
