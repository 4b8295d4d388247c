"""The look of a run in every figure: the same settings, the same colour, marker and line.

Colour and marker shape tell how training starts (no warm-up, a short one, the study's longest, or RAdam),
the marker's filling tells the peak rate, and the line tells the placement and the decay. Each difference is
thus visible without colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from preln.config import RunSettings
from preln.jobs.grid import series
from preln.placements import PLACEMENTS
from preln.schedules import of
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.runs import Run

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing
    from matplotlib.gridspec import SubplotSpec

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

_BLUE, _ORANGE, _GREEN, _VERMILLION, _PURPLE = "#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc"
_BROWN, _PINK, _GREY, _YELLOW, _SKY = "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"
PALETTE = (_BLUE, _ORANGE, _GREEN, _VERMILLION, _PURPLE, _BROWN, _PINK, _GREY, _YELLOW, _SKY)
"""Seaborn's palette "colorblind", which takes seconds to import."""
_NO_WARMUP = (_VERMILLION, "o")
_LONGEST_WARMUP = (_BLUE, "s")
_RADAM = (_GREEN, "D")
_SHORTER_WARMUPS = [(_ORANGE, "^"), (_PURPLE, "v"), (_PINK, "<"), (_BROWN, ">")]
AFTER_WARMUP_LOOK = (_GREEN, "....")
"""Colour and hatching of the bars of what is measured after its warm-up."""
_FILLINGS = ["full", "none", "left", "bottom"]
# None is a cross, which marks divergence.
_MARKERS_TO_SPARE = ["P", "p", "*", "h", "8", "d"]


@dataclass(frozen=True)
class Style:
    """The look of one curve, in matplotlib's terms."""

    colour: str
    marker: str
    filling: str
    line: Any


def line(placement: str, anchor: str = "warmup") -> Any:
    """The line of a placement; with dots, those of the paper, where a decay is anchored elsewhere than at the end of
    the warm-up."""
    lines = PLACEMENTS[placement].lines
    return lines.get(anchor, lines["warmup"])


def plain_ticks(axis: Axis) -> None:
    """Mark 1, 2 and 5 of each decade on a logarithmic axis with its data drawn, as numbers without powers."""
    low, high = axis.get_view_interval()
    ticks = (part * 10.0**power for power in range(-4, 4) for part in (1, 2, 5))
    axis.set_ticks([tick for tick in ticks if low < tick < high])
    axis.set_major_formatter("{x:g}")
    axis.set_ticks([], minor=True)


def legend_below(figure: Drawing, cell: SubplotSpec, handles: Sequence[Any], **look: Any) -> None:
    """A legend in a cell of the figure's grid that has no panel; `look` is in the terms of `Axes.legend`."""
    axes = figure.add_subplot(cell)
    axes.set_axis_off()
    axes.legend(handles=handles, frameon=False, **look)


def cross(colour: str) -> dict[str, Any]:
    """The mark of a run that diverged."""
    return {"color": colour, "linestyle": "none", "marker": "x", "markersize": 6, "markeredgewidth": 1.4}


def styles(runs: Sequence[Run]) -> dict[RunSettings, Style]:
    """The style of each series of a figure, whose runs are `runs`.

    It depends on the figure's whole grid and not on what is done of it, so that a curve keeps its look while
    the grid fills; and on no other run, so that the figure is right until one of its own runs changes.
    """
    chosen: dict[RunSettings, Style] = {}
    all_settings = [run.settings for run in runs]
    warmups = sorted({settings.warmup for settings in all_settings if settings.warmup > 1})
    # The rates of SGD are on a scale of their own, and its panels are apart, so its styles may be those of Adam.
    for is_sgd in (False, True):
        same_scale = dict.fromkeys(series(run) for run in all_settings if (run.optimizer == "sgd") == is_sgd)
        rates = sorted({run.learning_rate for run in same_scale}, reverse=True)
        taken = set()
        for run in same_scale:
            filling = _FILLINGS[min(rates.index(run.learning_rate), len(_FILLINGS) - 1)]
            style = Style(*_start(run, warmups), filling, line(run.placement, _anchor(run)))
            markers = (style.marker, *_MARKERS_TO_SPARE)
            free = [marker for marker in markers if (marker, filling, style.line) not in taken]
            chosen[run] = replace(style, marker=free[0]) if free else style
            taken.add((chosen[run].marker, filling, style.line))
    return chosen


def _anchor(settings: RunSettings) -> str:
    """The anchor of the decay."""
    schedule = of(settings)
    return schedule.acts_as if isinstance(schedule, InverseSqrt) else "warmup"


def _start(settings: RunSettings, warmups: Sequence[int]) -> tuple[str, str]:
    """Colour and marker of how training starts; `warmups` are the study's, ascending."""
    if settings.optimizer == "radam" and settings.warmup <= 1:
        return _RADAM
    if settings.warmup <= 1:
        return _NO_WARMUP
    if settings.warmup == warmups[-1]:
        return _LONGEST_WARMUP
    return _SHORTER_WARMUPS[warmups.index(settings.warmup) % len(_SHORTER_WARMUPS)]
