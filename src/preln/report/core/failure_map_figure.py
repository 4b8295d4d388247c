"""The map of failure as a figure: the last loss over peak rates and lengths of warm-up, with the border of failure."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.report.core.failure_map import MARGIN, Cell, Endings, Map, maps
from preln.report.core.figure import NothingDone
from preln.report.core.style import NOTE, TEXT_WIDTH
from preln.values import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_CELL_HEIGHT = 0.27  # inches
_COLOURS = "viridis"
_BORDER = "#d55e00"
_NOTHING = "0.85"
"""The grey of a cell none of whose runs ended, for what diverges has no loss."""


CAPTION = (
    "The last validation loss over the peak learning rate and the length of the warm-up: the mean of the seeds that "
    f"did not diverge. A run fails if it diverges, or ends less than {MARGIN} bits a token below the unigram "
    "baseline, which gives every token its frequency in the training text. × counts those that fail. The line "
    "divides the cells in which more than a third of the seeds fail from the others. In a grey cell all diverged. "
    "The top of the scale is the unigram baseline."
)


def compose(study: Study, endings: Endings) -> Drawing:
    """The figure of how a study's runs ended: a panel for each model."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as Drawing

    drawn = [model for model in maps(endings) if model.cells]
    if not drawn:
        raise NothingDone
    cells = [cell for model in drawn for cell in model.cells.values()]
    losses = [cell.loss for cell in cells if math.isfinite(cell.loss)]
    guess = max(cell.guess for cell in cells)
    colours = ScalarMappable(Normalize(min([*losses, guess - MARGIN]), guess, clip=True), _COLOURS)
    height = _CELL_HEIGHT * max(len(model.rates) for model in drawn) + 1.7
    figure = Drawing(figsize=(TEXT_WIDTH, height), layout="constrained")
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
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    number: dict[str, Any] = {"color": "black", "linestyle": "none", "markersize": 9, "markeredgewidth": 0.4}
    failed = f"diverged, or ended less than {MARGIN} bits below the unigram baseline"
    count = ("×2", f"seeds that fail: {failed}") if any(cell.seeds > 1 for cell in cells) else ("×", f"fails: {failed}")
    handles: list[Any] = [
        Line2D([], [], marker="$4.2$", label="last validation loss, as the colour", **number),
        Line2D([], [], marker=f"${count[0]}$", label=count[1], **number),
        Line2D([], [], color=_BORDER, linewidth=1.8, label="border: above it, more than a third of the seeds fail"),
    ]
    if not all(math.isfinite(cell.loss) for cell in cells):
        handles.append(Patch(color=_NOTHING, label="every seed diverged"))
    return handles


def _draw(axes: Axes, drawn: Map, colours: Any) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    axes.set(title=drawn.name.replace(", ", "\n", 1), xlabel="Warm-up (updates)")
    axes.grid(visible=False)
    axes.set_xlim(-0.5, len(drawn.warmups) - 0.5)
    axes.set_ylim(-0.5, len(drawn.rates) - 0.5)
    axes.set_xticks(range(len(drawn.warmups)), [str(warmup) for warmup in drawn.warmups])
    axes.set_yticks(range(len(drawn.rates)), [short(rate) for rate in drawn.rates])
    for (rate, warmup), cell in drawn.cells.items():
        x, y = drawn.warmups.index(warmup), drawn.rates.index(rate)
        colour = colours.to_rgba(cell.loss) if math.isfinite(cell.loss) else _NOTHING
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="none"))
        dark = math.isfinite(cell.loss) and sum(colour[:3]) < 1.6
        axes.text(x, y, _words(cell), ha="center", va="center", fontsize=6, color="white" if dark else "black")
    border = LineCollection(list(_border(drawn)), colors=_BORDER, linewidths=1.8, capstyle="round", zorder=3)
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
    return f"Study {study.study}, {', '.join(endings.texts)}: {runs} of {len(endings.asked)} runs{after}"


def span(low: int, high: int) -> str:
    """Two numbers, or one where they are equal."""
    return f"{low} to {high}" if low < high else str(low)
