"""The placements of a bench: the last loss of each over the peak rate, with and without a warm-up."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.placements import PLACEMENTS
from preln.report.core.figure import Figure, NothingDone
from preln.report.core.style import NOTE, TEXT_WIDTH, cross
from preln.translation.report.bench import SOURCE, Line, Records, lines, on_a_bench
from preln.translation.report.failure_map import MARGIN
from preln.values import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_ACROSS = 5
_ROW_HEIGHT = 1.12  # inches
_LEGEND_HEIGHT = 0.75
_MOST_NAMED = 4
"""Rates that have room for their names below a panel; of more, every other one has one."""
_HEADROOM = 0.08
"""The part of the axis of losses above the unigram baseline, as a share of its range: for the crosses."""
_SHORTEST: dict[str, Any] = {"linestyle": (0, (3.5, 1.5)), "markerfacecolor": "white"}
_LONGEST: dict[str, Any] = {"linestyle": "-"}


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records: a panel for each model.

    Raises:
        NothingDone: if no run of a bench is done.
    """
    from matplotlib.figure import Figure as Drawing

    drawn = lines(records)
    if not drawn:
        raise NothingDone
    by_model: dict[str, list[Line]] = {}
    for line in drawn:
        by_model.setdefault(line.model.name, []).append(line)
    columns = min(_ACROSS, len(by_model))
    down = math.ceil(len(by_model) / columns)
    figure = Drawing(figsize=(TEXT_WIDTH, _ROW_HEIGHT * down + _LEGEND_HEIGHT), layout="constrained")
    panels = figure.subplots(down, columns, squeeze=False, sharex=True, sharey=True)
    guess = max(line.guess for line in drawn)
    lowest = min((loss for line in drawn for cell in line.cells.values() for loss in cell.ended), default=guess - 1)
    top = guess + _HEADROOM * (guess - min(lowest, guess - MARGIN))
    for axes, of_model in zip(panels.flat, by_model.values(), strict=False):
        _draw(axes, of_model, guess, top)
    for axes in list(panels.flat)[len(by_model) :]:
        axes.set_axis_off()
    rates = sorted({rate for line in drawn for rate in line.model.rates})
    every = 1 if len(rates) <= _MOST_NAMED else 2
    panels[0, 0].set_xscale("log")
    panels[0, 0].set_xticks(rates, [short(rate) if i % every == 0 else "" for i, rate in enumerate(rates)])
    panels[0, 0].minorticks_off()
    panels[0, 0].set_ylim(top=top + _HEADROOM * (guess - min(lowest, guess - MARGIN)))
    # A panel above one that is left out has the rates too.
    for axes in panels[-2, len(by_model) - columns * (down - 1) :] if down > 1 else ():
        axes.tick_params(labelbottom=True)
    figure.supylabel("Last validation loss (bits/token)", fontsize=8)
    figure.legend(handles=_legend(drawn), loc="outside upper center", ncols=5, frameon=False, handlelength=2.4)
    figure.supxlabel(textwrap.fill(_note(study, records, drawn), width=160), **NOTE)
    return figure


def _draw(axes: Axes, drawn: Sequence[Line], guess: float, top: float) -> None:
    """A line for each length of warm-up, with its seeds; a cross at the top where one diverged."""
    placement = PLACEMENTS[drawn[0].model.settings.placement]
    axes.set_title(drawn[0].model.name, fontsize=7.5, pad=2)
    axes.axhline(guess, color="0.4", linewidth=0.8, linestyle=":")
    axes.axhline(guess - MARGIN, color="0.6", linewidth=0.6)
    shortest = min(line.warmup for line in drawn)
    for line in drawn:
        cells = line.cells
        look = _SHORTEST if line.warmup == shortest else _LONGEST
        axes.plot(
            list(cells),
            # What is above the guess is told by how far above it the axis goes.
            [min(cell.loss, top) for cell in cells.values()],
            color=placement.colour,
            marker=placement.marker,
            markersize=3.2,
            markeredgewidth=0.7,
            linewidth=1,
            **look,
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


def _legend(drawn: Sequence[Line]) -> list[Any]:
    """The meaning of the lines and the marks, in grey, for each panel has a colour and a marker of its own."""
    from matplotlib.lines import Line2D

    grey: dict[str, Any] = {"color": "0.3", "marker": "o", "markersize": 3.2, "markeredgewidth": 0.7, "linewidth": 1}
    warmups = sorted({line.warmup for line in drawn})
    handles = [
        Line2D([], [], label=_warmup(warmup), **grey, **(_SHORTEST if warmup == warmups[0] else _LONGEST))
        for warmup in (warmups[0], warmups[-1])[: len(warmups)]
    ]
    return [
        *handles,
        Line2D([], [], label="a seed diverged", **(cross("0.3") | {"markersize": 3.5})),
        Line2D([], [], label="unigram baseline", color="0.4", linewidth=0.8, linestyle=":"),
        Line2D([], [], label="border of failing", color="0.6", linewidth=0.6),
    ]


def _warmup(updates: int) -> str:
    return f"warm-up of {updates} updates" if updates > 1 else "no warm-up"


def _note(study: Study, records: Records, drawn: Sequence[Line]) -> str:
    """The note below the figure, which counts the runs that are in it, their updates and their seeds."""
    seeds = [cell.seeds for line in drawn for cell in line.cells.values()]
    summary = records.runs.summary
    updates = summary.loc[summary["status"] == "finished", "updates"]
    after = f", after {_span(updates.min(), updates.max())} updates" if len(updates) else ""
    corpora = sorted({run.settings.corpus for run in records.runs.runs})
    return (
        f"Study {study.study}, {', '.join(corpora)}: {sum(seeds)} of {len(records.runs.runs)} runs{after}. Over peak "
        f"learning rates; seeds of each: {_span(min(seeds), max(seeds))}."
    )


def _span(low: int, high: int) -> str:
    return f"{low} to {high}" if low < high else str(low)


FIGURE = Figure(
    name="placements",
    title="The placements on one bench",
    caption="The last validation loss of each placement and option over the peak learning rate: the mean of the seeds "
    "that did not diverge, with a band from the lowest to the highest. Unbroken lines with filled markers are with the "
    "warm-up, broken lines with open markers without. A cross marks a rate of which a seed diverged. The dotted line "
    "is the unigram baseline, which gives every token its frequency in the training text. A run fails that ends above "
    f"the grey line, {MARGIN} bits below the guess. Losses far above the guess are at the upper edge.",
    source=SOURCE,
    of=on_a_bench,
    compose=compose,
)
