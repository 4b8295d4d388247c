"""The map of failure as a figure: the last loss over peak rates and lengths of warm-up, with the border of failure;
and the placements of a bench: the last loss of each over the peak rate, with each length of warm-up."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from preln.config import Study
from preln.libraries import mpl
from preln.placements import PLACEMENTS
from preln.report.core.entries import Figure, NothingDone, R, Source, Table
from preln.report.core.failure_map import Cell, Endings, Map, in_a_map, legible, limits_table, maps
from preln.report.core.labels import text_name
from preln.report.core.statistics import LEARNED
from preln.report.core.style import NOTE, TEXT_WIDTH, cross
from preln.values import short

_CELL_HEIGHT = 0.27  # inches
_COLOURS = "viridis"
_BORDER = "#d55e00"
_NOTHING = "0.85"
"""The grey of a cell none of whose runs ended, for what diverges has no loss."""


CAPTION = (
    "The last validation loss over the peak learning rate and the length of the warm-up: the mean of the seeds that "
    f"did not diverge. A run fails if it diverges, or ends less than {LEARNED} bits a token below the unigram "
    "baseline, which gives every token its frequency in the training text. × counts those that fail. The line "
    "divides the cells in which more than a third of the seeds fail from the others. In a grey cell all diverged. "
    "The top of the scale is the unigram baseline."
)


LIMITS_CAPTION = (
    "For each model and length of warm-up, the largest peak learning rate that trains, the best one, and how many runs "
    "fail."
)


def declared(
    prefix: str, titles: tuple[str, str], source: Source[Any, R], endings: Callable[[R], Endings]
) -> tuple[Figure[R], Table[R]]:
    """The figure and the table of limits of a kind of training, by their titles; `endings` reads how its runs ended."""
    figure = Figure(
        name=f"{prefix}failure-map",
        title=titles[0],
        caption=CAPTION,
        source=source,
        of=legible,
        compose=lambda study, records: compose(study, endings(records)),
    )
    limits = Table(
        name=f"{prefix}failure-limits",
        title=titles[1],
        caption=LIMITS_CAPTION,
        source=source,
        of=in_a_map,
        make=lambda study, records: limits_table(study, endings(records)),
        computed=("best_valid_loss", "constant_guess"),
    )
    return figure, limits


def compose(study: Study, endings: Endings) -> mpl.figure.Figure:
    """The figure of how a study's runs ended: a panel for each model."""
    drawn = [model for model in maps(endings) if model.cells]
    if not drawn:
        raise NothingDone
    cells = [cell for model in drawn for cell in model.cells.values()]
    losses = [cell.loss for cell in cells if math.isfinite(cell.loss)]
    guess = max(cell.guess for cell in cells)
    colours = mpl.cm.ScalarMappable(mpl.colors.Normalize(min([*losses, guess - LEARNED]), guess, clip=True), _COLOURS)
    height = _CELL_HEIGHT * max(len(model.rates) for model in drawn) + 1.7
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, height), layout="constrained")
    panels = figure.subplots(1, len(drawn), squeeze=False)[0]
    for axes, model in zip(panels, drawn, strict=True):
        _draw(axes, model, colours)
    panels[0].set_ylabel("Peak learning rate")
    bar = figure.colorbar(colours, ax=list(panels), label="Last validation loss (bits/token)", aspect=30, pad=0.01)
    bar.ax.set_title("learned\nnothing", fontsize=6)
    figure.legend(handles=_legend(cells), loc="outside upper center", ncols=2, frameon=False, handlelength=2.4)
    figure.supxlabel(textwrap.fill(_note(study, endings, drawn), width=160), **NOTE)
    return figure


def _legend(cells: Sequence[Cell]) -> list[Any]:
    number: dict[str, Any] = {"color": "black", "linestyle": "none", "markersize": 9, "markeredgewidth": 0.4}
    failed = f"diverged, or ended less than {LEARNED} bits below the unigram baseline"
    count = ("×2", f"seeds that fail: {failed}") if any(cell.seeds > 1 for cell in cells) else ("×", f"fails: {failed}")
    handles: list[Any] = [
        mpl.lines.Line2D([], [], marker="$4.2$", label="last validation loss, as the colour", **number),
        mpl.lines.Line2D([], [], marker=f"${count[0]}$", label=count[1], **number),
        mpl.lines.Line2D(
            [], [], color=_BORDER, linewidth=1.8, label="border: above it, more than a third of the seeds fail"
        ),
    ]
    if not all(math.isfinite(cell.loss) for cell in cells):
        handles.append(mpl.patches.Patch(color=_NOTHING, label="every seed diverged"))
    return handles


def _draw(axes: mpl.axes.Axes, drawn: Map, colours: Any) -> None:
    axes.set(title=drawn.name.replace(", ", "\n", 1), xlabel="Warm-up (updates)")
    axes.grid(visible=False)
    axes.set_xlim(-0.5, len(drawn.warmups) - 0.5)
    axes.set_ylim(-0.5, len(drawn.rates) - 0.5)
    axes.set_xticks(range(len(drawn.warmups)), [str(warmup) for warmup in drawn.warmups])
    axes.set_yticks(range(len(drawn.rates)), [short(rate) for rate in drawn.rates])
    for (rate, warmup), cell in drawn.cells.items():
        x, y = drawn.warmups.index(warmup), drawn.rates.index(rate)
        colour = colours.to_rgba(cell.loss) if math.isfinite(cell.loss) else _NOTHING
        axes.add_patch(mpl.patches.Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="none"))
        dark = math.isfinite(cell.loss) and sum(colour[:3]) < 1.6
        axes.text(x, y, _words(cell), ha="center", va="center", fontsize=6, color="white" if dark else "black")
    border = mpl.collections.LineCollection(
        list(_border(drawn)), colors=_BORDER, linewidths=1.8, capstyle="round", zorder=3
    )
    axes.add_collection(border)


def _words(cell: Cell) -> str:
    loss = f"{cell.loss:.1f}" if math.isfinite(cell.loss) else ""
    failed = "×" if cell.seeds == 1 else f"×{cell.failed}"
    return " ".join(part for part in (loss, failed if cell.failed else "") if part)


def _border(drawn: Map) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The edges between a cell that trains and a neighbour that does not."""
    for x, warmup in enumerate(drawn.warmups):
        for y, rate in enumerate(drawn.rates):
            for right, up in ((1, 0), (0, 1)):
                if x + right == len(drawn.warmups) or y + up == len(drawn.rates):
                    continue
                cell = drawn.cells.get((rate, warmup))
                neighbour = drawn.cells.get((drawn.rates[y + up], drawn.warmups[x + right]))
                if cell and neighbour and cell.trains != neighbour.trains:
                    corner = (x + 0.5, y + 0.5)
                    yield corner, (corner[0] - up, corner[1] - right)


def _note(study: Study, endings: Endings, drawn: Sequence[Map]) -> str:
    """The note below the figure, which counts the runs that are in it, and the seeds."""
    seeds = [cell.seeds for model in drawn for cell in model.cells.values()]
    seeds_a_cell = f"Up to {max(seeds)} seeds a cell." if max(seeds) > 1 else "One seed a cell."
    return f"{counted(study, endings, sum(seeds))}. {seeds_a_cell}"


def counted(study: Study, endings: Endings, runs: int) -> str:
    """How many of a study's runs a figure shows, and after how many updates."""
    updates = [ending.updates for ending in endings.done if math.isfinite(ending.loss)]
    after = f", after {span(min(updates), max(updates))} updates" if updates else ""
    return (
        f"Study {study.study}, {', '.join(map(text_name, endings.texts))}: {runs} of {len(endings.asked)} runs{after}"
    )


def span(low: int, high: int) -> str:
    """Two numbers, or one where they are equal."""
    return f"{low} to {high}" if low < high else str(low)


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

RATES_CAPTION = (
    "The last validation loss of each placement and option over the peak learning rate: the mean of the seeds that "
    "did not diverge, with a band from the lowest to the highest. Unbroken lines with filled markers are with the "
    "longest warm-up, dotted lines with a shorter one, broken lines with open markers with the shortest or none. A "
    "cross marks a rate of which a seed diverged. The dotted level is the unigram baseline, which gives every token "
    f"its frequency in the training text. A run fails that ends above the grey line, {LEARNED} bits below that level. "
    "Losses far above the level are at the upper edge."
)


def compose_rates(study: Study, endings: Endings) -> mpl.figure.Figure:
    """The figure of a bench: a panel for each model."""
    drawn = [model for model in maps(endings) if model.cells]
    if not drawn:
        raise NothingDone
    columns = min(_ACROSS, len(drawn))
    down = math.ceil(len(drawn) / columns)
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, _ROW_HEIGHT * down + _LEGEND_HEIGHT), layout="constrained")
    panels = figure.subplots(down, columns, squeeze=False, sharex=True, sharey=True)
    cells = [cell for model in drawn for cell in model.cells.values()]
    guess = max(cell.guess for cell in cells)
    lowest = min((loss for cell in cells for loss in cell.ended), default=guess - 1)
    top = guess + _HEADROOM * (guess - min(lowest, guess - LEARNED))
    for axes, model in zip(panels.flat, drawn, strict=False):
        _draw_rates(axes, model, guess, top)
    for axes in list(panels.flat)[len(drawn) :]:
        axes.set_axis_off()
    rates = sorted({rate for model in drawn for rate in model.rates})
    every = 1 if len(rates) <= _MOST_NAMED else 2
    panels[0, 0].set_xscale("log")
    panels[0, 0].set_xticks(rates, [short(rate) if i % every == 0 else "" for i, rate in enumerate(rates)])
    panels[0, 0].minorticks_off()
    panels[0, 0].set_ylim(top=top + _HEADROOM * (guess - min(lowest, guess - LEARNED)))
    # A panel above one that is left out has the rates too.
    for axes in panels[-2, len(drawn) - columns * (down - 1) :] if down > 1 else ():
        axes.tick_params(labelbottom=True)
    figure.supylabel("Last validation loss (bits/token)", fontsize=8)
    warmups = sorted({warmup for model in drawn for warmup in model.warmups if model.at(warmup)})
    handles = _legend_of_rates(warmups)
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


def _draw_rates(axes: mpl.axes.Axes, drawn: Map, guess: float, top: float) -> None:
    """A line for each length of warm-up, with its seeds; a cross at the top where one diverged."""
    placement = PLACEMENTS[drawn.settings.placement]
    name = drawn.name if len(drawn.name) <= _WIDEST_NAME else drawn.name.replace(", ", "\n")
    axes.set_title(name, fontsize=7.5, pad=2)
    axes.axhline(guess, color="0.4", linewidth=0.8, linestyle=":")
    axes.axhline(guess - LEARNED, color="0.6", linewidth=0.6)
    warmups = [warmup for warmup in drawn.warmups if drawn.at(warmup)]
    for warmup in warmups:
        cells = drawn.at(warmup)
        axes.plot(
            list(cells),
            # Losses above the top lie on it.
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


def _legend_of_rates(warmups: Sequence[int]) -> list[Any]:
    """The meaning of the lines and the marks, in grey, for each panel has a colour and a marker of its own."""
    grey: dict[str, Any] = {"color": "0.3", "marker": "o"}
    handles = [mpl.lines.Line2D([], [], label=_warmup(warmup), **grey, **_look(warmup, warmups)) for warmup in warmups]
    return [
        *handles,
        mpl.lines.Line2D([], [], label="a seed diverged", **(cross("0.3") | {"markersize": 3.5})),
        mpl.lines.Line2D([], [], label="unigram baseline", color="0.4", linewidth=0.8, linestyle=":"),
        mpl.lines.Line2D([], [], label="border of failing", color="0.6", linewidth=0.6),
    ]


def _warmup(updates: int) -> str:
    return f"warm-up of {updates} updates" if updates > 1 else "no warm-up"
