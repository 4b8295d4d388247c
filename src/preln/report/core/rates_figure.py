"""The placements of a bench as a figure: the last loss of each over the peak rate, with each length of warm-up."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.placements import PLACEMENTS
from preln.report.core.failure_map import MARGIN, Endings, Map, maps
from preln.report.core.failure_map_figure import counted, span
from preln.report.core.figure import NothingDone
from preln.report.core.style import NOTE, TEXT_WIDTH, cross
from preln.values import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_ACROSS = 5
_ROW_HEIGHT = 1.12  # inches
_LEGEND_HEIGHT = 0.75
_WIDEST_NAME = 22
"""Letters for which a panel is wide enough."""
_IN_A_ROW = 5
"""Entries of a row of the legend."""
_MOST_NAMED = 4
"""Rates that have room for their names below a panel; of more, every other one has one."""
_HEADROOM = 0.08
"""The part of the axis of losses above the unigram baseline, as a share of its range: for the crosses."""
_LINE: dict[str, Any] = {"markersize": 3.2, "markeredgewidth": 0.7, "linewidth": 1}
_SHORTEST: dict[str, Any] = {"linestyle": (0, (3.5, 1.5)), "markerfacecolor": "white"}
_LONGEST: dict[str, Any] = {"linestyle": "-"}
_BETWEEN: dict[str, Any] = {"linestyle": (0, (1, 1)), "markersize": 2}

CAPTION = (
    "The last validation loss of each placement and option over the peak learning rate: the mean of the seeds that "
    "did not diverge, with a band from the lowest to the highest. Unbroken lines with filled markers are with the "
    "longest warm-up, dotted lines with a shorter one, broken lines with open markers with the shortest or none. A "
    "cross marks a rate of which a seed diverged. The dotted level is the unigram baseline, which gives every token "
    f"its frequency in the training text. A run fails that ends above the grey line, {MARGIN} bits below the guess. "
    "Losses far above the guess are at the upper edge."
)


def compose(study: Study, endings: Endings) -> Drawing:
    """The figure of a bench: a panel for each model."""
    from matplotlib.figure import Figure as Drawing

    drawn = [model for model in maps(endings) if model.cells]
    if not drawn:
        raise NothingDone
    columns = min(_ACROSS, len(drawn))
    down = math.ceil(len(drawn) / columns)
    figure = Drawing(figsize=(TEXT_WIDTH, _ROW_HEIGHT * down + _LEGEND_HEIGHT), layout="constrained")
    panels = figure.subplots(down, columns, squeeze=False, sharex=True, sharey=True)
    cells = [cell for model in drawn for cell in model.cells.values()]
    guess = max(cell.guess for cell in cells)
    lowest = min((loss for cell in cells for loss in cell.ended), default=guess - 1)
    top = guess + _HEADROOM * (guess - min(lowest, guess - MARGIN))
    for axes, model in zip(panels.flat, drawn, strict=False):
        _draw(axes, model, guess, top)
    for axes in list(panels.flat)[len(drawn) :]:
        axes.set_axis_off()
    rates = sorted({rate for model in drawn for rate in model.rates})
    every = 1 if len(rates) <= _MOST_NAMED else 2
    panels[0, 0].set_xscale("log")
    panels[0, 0].set_xticks(rates, [short(rate) if i % every == 0 else "" for i, rate in enumerate(rates)])
    panels[0, 0].minorticks_off()
    panels[0, 0].set_ylim(top=top + _HEADROOM * (guess - min(lowest, guess - MARGIN)))
    # A panel above one that is left out has the rates too.
    for axes in panels[-2, len(drawn) - columns * (down - 1) :] if down > 1 else ():
        axes.tick_params(labelbottom=True)
    figure.supylabel("Last validation loss (bits/token)", fontsize=8)
    warmups = sorted({warmup for model in drawn for warmup in model.warmups if model.at(warmup)})
    handles = _legend(warmups)
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=_IN_A_ROW if len(handles) <= _IN_A_ROW else math.ceil(len(handles) / 2),
        frameon=False,
        handlelength=2.4,
    )
    seeds = [cell.seeds for cell in cells]
    note = f"{counted(study, endings, sum(seeds))}. Over peak learning rates; seeds of each: "
    figure.supxlabel(textwrap.fill(f"{note}{span(min(seeds), max(seeds))}.", width=160), **NOTE)
    return figure


def _draw(axes: Axes, drawn: Map, guess: float, top: float) -> None:
    """A line for each length of warm-up, with its seeds; a cross at the top where one diverged."""
    placement = PLACEMENTS[drawn.settings.placement]
    name = drawn.name if len(drawn.name) <= _WIDEST_NAME else drawn.name.replace(", ", "\n")
    axes.set_title(name, fontsize=7.5, pad=2)
    axes.axhline(guess, color="0.4", linewidth=0.8, linestyle=":")
    axes.axhline(guess - MARGIN, color="0.6", linewidth=0.6)
    warmups = [warmup for warmup in drawn.warmups if drawn.at(warmup)]
    for warmup in warmups:
        cells = drawn.at(warmup)
        axes.plot(
            list(cells),
            # What is above the guess is told by how far above it the axis goes.
            [min(cell.loss, top) for cell in cells.values()],
            color=placement.colour,
            marker=placement.marker,
            **_look(warmup, warmups),
        )
        ended = {rate: cell.ended for rate, cell in cells.items() if cell.ended}
        axes.fill_between(
            list(ended),
            [min(*losses, top) for losses in ended.values()],
            [min(max(losses), top) for losses in ended.values()],
            color=placement.colour,
            alpha=0.18,
            linewidth=0,
        )
        diverged = [rate for rate, cell in cells.items() if len(cell.ended) < cell.seeds]
        axes.plot(diverged, [top] * len(diverged), **(cross(placement.colour) | {"markersize": 3.5}))


def _look(warmup: int, warmups: Sequence[int]) -> dict[str, Any]:
    if warmup == warmups[0]:
        return _LINE | _SHORTEST
    return _LINE | (_LONGEST if warmup == warmups[-1] else _BETWEEN)


def _legend(warmups: Sequence[int]) -> list[Any]:
    """The meaning of the lines and the marks, in grey, for each panel has a colour and a marker of its own."""
    from matplotlib.lines import Line2D

    grey: dict[str, Any] = {"color": "0.3", "marker": "o"}
    handles = [Line2D([], [], label=_warmup(warmup), **grey, **_look(warmup, warmups)) for warmup in warmups]
    return [
        *handles,
        Line2D([], [], label="a seed diverged", **(cross("0.3") | {"markersize": 3.5})),
        Line2D([], [], label="unigram baseline", color="0.4", linewidth=0.8, linestyle=":"),
        Line2D([], [], label="border of failing", color="0.6", linewidth=0.6),
    ]


def _warmup(updates: int) -> str:
    return f"warm-up of {updates} updates" if updates > 1 else "no warm-up"
