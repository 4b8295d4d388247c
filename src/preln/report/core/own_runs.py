"""The figure of a study's own runs, whatever their settings: a curve a run, over updates, coloured by what differs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preln.config import PretrainingSettings, RunSettings
from preln.jobs.runs import series
from preln.libraries import np, pd
from preln.report.core.curves import EXTENT, Curves, by_series, means
from preln.report.core.figure import NothingDone
from preln.report.core.statistics import extent, mean
from preln.report.core.style import COLUMN_WIDTH, NOTE, PALETTE, TEXT_WIDTH, cross, legend_below, line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

_TOLD_ELSEWHERE = {"corpus", "text", "seed"}
_PANEL_HEIGHT = 2.1  # inches
_LINE_HEIGHT = 0.145  # inches, of a line of a legend
# Without those that are too pale for a line.
_COLOURS = [PALETTE[number] for number in (0, 3, 2, 1, 4, 5, 9, 7)]
# One more than there are colours, so that the two together repeat late.
_MARKERS = "os^Dv<>pP"


@dataclass(frozen=True)
class OwnRun:
    """One run of a study.

    Attributes:
        settings: its settings, by which runs that differ in the seed alone are one curve.
        name: what the legend calls that curve.
        text: the name of the corpus or the text that it is trained on; runs of other texts are not in one panel.
        guess: the loss of a uniform guess, in bits a token.
        curve: a row a validation: `updates` and the quantities. None where the run is not done.
        diverged: the update at which it diverged, if it did.
    """

    settings: RunSettings | PretrainingSettings
    name: str
    text: str
    guess: float
    curve: pd.DataFrame | None
    diverged: int | None


@dataclass(frozen=True)
class Quantity:
    """What a column of panels shows: the column of the curves, its title, and what stands at the axis."""

    column: str
    title: str
    axis: str
    is_loss: bool


@dataclass(frozen=True)
class _Panel:
    """The runs of one text, and one quantity of them."""

    text: str
    quantity: Quantity
    runs: tuple[OwnRun, ...]


def compose(study: str, runs: Sequence[OwnRun], quantities: Sequence[Quantity]) -> Drawing:
    """The figure of a study's runs: a row of panels for each text, a column for each quantity that is recorded.

    Raises:
        NothingDone: if no run is done.
    """
    from matplotlib.figure import Figure as Drawing

    grid = _grid(runs, quantities)
    looks, told = _looks([run.settings for run in runs])
    columns = len(grid[0])
    width = TEXT_WIDTH if columns > 1 else COLUMN_WIDTH
    legend = _legend(runs, looks, 64 if columns == 1 else 68)
    lines = math.ceil(sum(text.count("\n") + 1 for _, text in legend) / columns) + 1
    note = textwrap.fill(f"{_progress(study, runs)} {told}".strip(), width=round(width * 24))
    height = _PANEL_HEIGHT * len(grid) + _LINE_HEIGHT * (lines + note.count("\n") + 2)
    figure = Drawing(figsize=(width, height), layout="constrained")
    heights = [*([_PANEL_HEIGHT] * len(grid)), _LINE_HEIGHT * lines]
    space = figure.add_gridspec(len(grid) + 1, columns, height_ratios=heights)
    several = len(grid) > 1
    for i, row in enumerate(grid):
        for j, panel in enumerate(row):
            axes = figure.add_subplot(space[i, j])
            axes.set_title(f"{panel.quantity.title}, {panel.text}" if several else panel.quantity.title)
            _draw(axes, panel, looks)
    handles, texts = zip(*legend, strict=True)
    legend_below(
        figure,
        space[-1, :],
        handles,
        labels=texts,
        loc="upper center",
        ncols=columns,
        borderaxespad=0,
        handlelength=2.8,
        labelspacing=0.25,
    )
    figure.supxlabel(note, **NOTE)
    return figure


def curves(runs: Sequence[OwnRun], quantities: Sequence[Quantity]) -> list[Curves]:
    """The figure as numbers."""
    found = []
    for panel in (panel for row in _grid(runs, quantities) for panel in row):
        tables = []
        for members in by_series(panel.runs).values():
            tables.append(_mean(members, panel.quantity.column).assign(curve=members[0].name))
            for run in members:
                if run.diverged is not None and run.curve is not None:
                    name = f"{run.name}, seed {run.settings.seed}"
                    tables.append(_mean([run], panel.quantity.column, with_diverged=True).assign(curve=name))
        table = pd.concat(tables, ignore_index=True)
        if len(table):
            ended = [f"{run.name}, seed {run.settings.seed} at update {run.diverged}" for run in _diverged(panel.runs)]
            found.append(
                Curves(
                    title=f"{panel.quantity.title}, {panel.text}",
                    x="updates",
                    x_title="Update",
                    y_title=panel.quantity.axis,
                    table=table,
                    reference=pd.DataFrame(),
                    ends=EXTENT,
                    note=f"Diverged: {'; '.join(ended)}." if ended else "",
                )
            )
    return found


def _grid(runs: Sequence[OwnRun], quantities: Sequence[Quantity]) -> list[list[_Panel]]:
    """The panels: of texts that have a run that is done, and of quantities that some run has recorded."""
    done = [run for run in runs if run.curve is not None]
    if not done:
        raise NothingDone
    known = [one for one in quantities if one.is_loss or any(_recorded(run, one.column).size for run in done)]
    texts = dict.fromkeys(run.text for run in done)
    return [[_Panel(text, one, tuple(run for run in done if run.text == text)) for one in known] for text in texts]


def _draw(axes: Axes, panel: _Panel, looks: dict[Any, dict[str, Any]]) -> None:
    """The curves of a panel."""
    from matplotlib.ticker import MaxNLocator

    column = panel.quantity.column
    highest, lowest = -math.inf, math.inf
    guess = max(run.guess for run in panel.runs)
    for key, members in by_series(panel.runs).items():
        look = looks[key]
        shown = _mean(members, column)
        if len(shown):
            axes.plot(shown["updates"], shown["value"], **look, linewidth=1.1, markersize=3.2)
            axes.fill_between(
                shown["updates"], shown["low"], shown["high"], color=look["color"], alpha=0.2, linewidth=0
            )
        for run in members:
            if run.diverged is None:
                continue
            curve = _recorded(run, column)
            axes.plot(curve["updates"], curve[column], **look, linewidth=0.6, markersize=3.2)
            # On the edge of the axes, for what diverges has no value there.
            edge = 1.0 if panel.quantity.is_loss else 0.0
            axes.plot(
                [run.diverged],
                [edge],
                **cross(look["color"]),
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                zorder=4,
            )
        for run in members:
            values = _recorded(run, column)[column]
            highest, lowest = max([highest, *values]), min([lowest, *values])
    axes.set(xlabel="Update", ylabel=panel.quantity.axis)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.set_xlim(left=0)
    if math.isinf(highest):
        # Crosses alone: every run diverged before its first validation.
        axes.set_yticks([])
    elif panel.quantity.is_loss:
        if lowest < guess < highest:
            axes.set_ylim(lowest - 0.05 * (guess - lowest), guess)
    else:
        # A model that has learned nothing is shown as flat, not its noise enlarged.
        top = max(1.0, axes.get_ylim()[1])
        axes.set_ylim(-0.02 * top, top)


def _recorded(run: OwnRun, column: str) -> pd.DataFrame:
    """The validations of a run that have a finite value of a quantity."""
    if run.curve is None or column not in run.curve:
        return pd.DataFrame(columns=["updates", column])
    found: pd.DataFrame = run.curve[np.isfinite(run.curve[column].to_numpy(dtype=float))]
    return found


def _mean(members: Sequence[OwnRun], column: str, with_diverged: bool = False) -> pd.DataFrame:
    """The mean over the seeds that finished at each validation, with the lowest and the highest of them: `updates`,
    `value`, `low`, `high` and `seeds`. Seeds differ a little in the updates of an epoch; `updates` is their mean."""
    shown = [run for run in members if with_diverged or run.diverged is None]
    known = [_recorded(run, column).reset_index(drop=True)[["updates", column]].astype(float) for run in shown]
    points = pd.concat([pd.DataFrame({"updates": [], column: []}, dtype=float), *known])
    points = points.assign(curve="", step=points.index, value=points[column])
    updates = points.groupby("step")["updates"].agg(mean)
    table = means(points, "step", extent)
    # Of no points, the columns would have no numbers.
    numbers = table[["value", "low", "high"]].astype(float)
    return numbers.assign(updates=table["step"].map(updates).astype(float), seeds=table["seeds"])


def _diverged(runs: Sequence[OwnRun]) -> list[OwnRun]:
    return [run for run in runs if run.diverged is not None]


def _looks(settings: Sequence[RunSettings | PretrainingSettings]) -> tuple[dict[Any, dict[str, Any]], str]:
    """The look of each curve, and in a sentence what it tells.

    Where one setting differs, colour tells it; where several do, each curve has a colour and a marker of its own. The
    line tells the placement. The look depends on the study's whole grid, so that a curve keeps it while the grid fills.
    """
    every = list(dict.fromkeys(map(series, settings)))
    keys = [key for key in type(settings[0]).model_fields if key not in _TOLD_ELSEWHERE]
    differing = [key for key in keys if len({getattr(one, key) for one in every}) > 1]
    colours: list[str] = [_COLOURS[number % len(_COLOURS)] for number in range(len(every))]
    told = "Each curve has a colour and a marker of its own."
    if len(differing) < 2:
        told = "".join(f"Colour: {key.replace('_', ' ')}." for key in differing)
        if differing and all(isinstance(getattr(one, differing[0]), int | float) for one in every):
            colours = _in_order([getattr(one, differing[0]) for one in every])
    looks = {
        one: {"color": colour, "marker": _MARKERS[number % len(_MARKERS)], "linestyle": line(one.placement)}
        for number, (one, colour) in enumerate(zip(every, colours, strict=True))
    }
    return looks, told


def _in_order(values: Sequence[float]) -> list[str]:
    """Colours in which the order of the values is seen."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ordered = sorted(values)
    # The end of the map is too pale for a line.
    return [to_hex(colormaps["viridis"](0.88 * ordered.index(value) / (len(ordered) - 1))) for value in values]


def _legend(
    runs: Sequence[OwnRun], looks: dict[Any, dict[str, Any]], width: int
) -> list[tuple[tuple[Line2D, ...], str]]:
    """For each curve with a run that is done, its handles, and its name with what became of its seeds."""
    from matplotlib.lines import Line2D

    entries = []
    for key, members in by_series(runs).items():
        done = [run for run in members if run.curve is not None]
        if not done:
            continue
        failed = _diverged(done)
        text = members[0].name
        if len(members) > 1:
            # Spaces at which the text is not wrapped.
            text += f", n\xa0=\xa0{len(done) - len(failed)}"
        if failed:
            updates = ", ".join(str(run.diverged) for run in failed)
            of = f"{len(failed)} of {len(members)} " if len(members) > 1 else ""
            text += f"; {of}diverged at update{'s' if len(failed) > 1 else ''} {updates}"
        handles = [Line2D([], [], **looks[key], linewidth=1.1, markersize=3.2)]
        if failed:
            handles.append(Line2D([], [], **cross(looks[key]["color"])))
        entries.append((tuple(handles), textwrap.fill(text, width=width)))
    return entries


def _progress(study: str, runs: Sequence[OwnRun]) -> str:
    """How many of the runs are in the figure, and what lines and crosses are."""
    done = [run for run in runs if run.curve is not None]
    texts = ", ".join(dict.fromkeys(run.text for run in runs))
    parts = [f"Study {study}, {texts}: {len(done)} of {len(runs)} runs"]
    if failed := _diverged(done):
        parts[0] += f", {len(failed)} diverged (×)"
    if any(len(members) > 1 for members in by_series(runs).values()):
        parts.append("Lines: mean of the n seeds that finished; bands: lowest to highest")
    return ". ".join(parts) + "."
