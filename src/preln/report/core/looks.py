"""The look of a thing in every figure and chart: colours, markers and lines.

A placement has the look that its file gives it, and one of its runs has the same. Every other run has a colour and a
marker of its own, and the line of its placement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from preln.config import ModelSettings
from preln.jobs.grid import series
from preln.libraries import mpl
from preln.placements import PLACEMENTS
from preln.report.core.labels import varying

Look = dict[str, Any]
"""Colour, marker and line, in the terms of `Axes.plot`."""

PALETTE = (
    *("#029e73", "#cc78bc", "#de8f05", "#56b4e9", "#222222", "#8c5a2b", "#5e3c99", "#a50026", "#8a8a00", "#00504a"),
    *("#d55e00", "#0173b2"),
)
"""Colours, of which the first differ most, also to the colour-blind and in grey. Pre-LN's and Post-LN's come last."""
MARKERS = "^Dv<>pPh*os"
"""Markers, in which those two placements' come last too."""
AFTER_WARMUP = (PALETTE[0], "....")
"""Colour and hatching of the bars of what is measured after its warm-up."""
_SIZES = {"linewidth": 1.1, "markersize": 3.2}


def of_placement(name: str) -> Look:
    """The look of a placement, where its runs are not told apart."""
    placement = PLACEMENTS[name]
    return {"color": placement.colour, "marker": placement.marker, "linestyle": placement.line, **_SIZES}


def of_runs(settings: Sequence[ModelSettings], figures: Mapping[Any, Set[Any]] | None = None) -> dict[Any, Look]:
    """The look of each curve of a study, in whichever figure it is drawn: a colour and a marker, which no other curve
    has together, and the line of its placement. The first have the colours that differ most; two curves of one of the
    `figures` have two colours while there are enough.

    The first curve of a placement without a warm-up, or else its first, looks as the placement does. Where one number
    differs between all curves, the order of the colours shows it. The look depends on the study's whole grid, so that a
    curve keeps it while the grid fills.
    """
    runs = list(dict.fromkeys(map(series, settings)))
    first = {run.placement: run for run in reversed(sorted(runs, key=lambda run: run.warmup > 1))}
    drawn = {run: of_placement(run.placement) for run in runs if first[run.placement] == run}
    # So few have a colour each, whatever they are drawn in.
    few = len(runs) <= len(PALETTE)
    for run in runs:
        if run not in drawn:
            used = [look["color"] for look in drawn.values()]
            sharing = [look for other, look in drawn.items() if few or (figures and figures[other] & figures[run])]
            beside = {look["color"] for look in sharing}
            colour = min(PALETTE, key=lambda colour: (colour in beside, colour in PALETTE[-2:], used.count(colour)))
            taken = {look["marker"] for look in drawn.values() if look["color"] == colour}
            number = PALETTE.index(colour)
            markers = MARKERS[number % len(MARKERS) :] + MARKERS[: number % len(MARKERS)]
            marker = next((marker for marker in markers if marker not in taken), markers[0])
            drawn[run] = {**of_placement(run.placement), "color": colour, "marker": marker}
    differing = varying(runs)
    values: list[Any] = [getattr(run, next(iter(differing))) for run in runs] if len(differing) == 1 else [""]
    if all(isinstance(value, int | float) for value in values):
        for run, colour in zip(runs, gradation(values), strict=True):
            drawn[run]["color"] = colour
    return {run: drawn[run] for run in runs}


def gradation(values: Sequence[float]) -> list[str]:
    """Colours that show the order of the values."""
    ordered = sorted(set(values))
    # The end of the map is too pale for a line.
    return [
        mpl.colors.to_hex(mpl.colormaps["viridis"](0.85 * ordered.index(value) / max(1, len(ordered) - 1)))
        for value in values
    ]
