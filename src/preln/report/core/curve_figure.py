"""The curve figure: means over the seeds with bands, a cross where a run diverged, and the paper's curves in grey.

It serves every kind of training. Up to `MOST` curves share a panel, with one legend below; more become small multiples,
each with the others in grey behind it.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal

from preln.config import ModelSettings, Study
from preln.jobs.grid import series
from preln.libraries import mpl, np, pd
from preln.report.core.curves import EXTENT, Curves, S, by_series, means
from preln.report.core.entries import Figure, NothingDone, R, Source
from preln.report.core.labels import label, names, text_name, varying
from preln.report.core.looks import MARKERS, Look, gradation
from preln.report.core.statistics import extent, mean
from preln.report.core.style import COLUMN_WIDTH, NOTE, TEXT_WIDTH, cross, plain_ticks

MOST = 12
"""Curves in a panel, at most."""
_MOST_CURVES = 48
"""Curves that a reader looks through."""
_PANEL_HEIGHT = 1.9  # inches
_SMALL_HEIGHT = 1.0  # inches, of a small multiple without its title
_ACROSS = 5
_TITLE_LINE = 0.135  # inches, of the title of a small multiple
_NOTE_LINE = 0.115  # inches
_LEFT, _FOOT, _TICKS = 0.75, 0.26, 0.08
"""Room around small multiples, inches: left of the first for the axis, below the last, and between two of them."""
_GAP = 0.06  # inches, between panels, legend and note
_HEADROOM = 0.5
"""The part of the axis of losses above the unigram baseline, as a share of the range below it."""
_MARKED = 12
"""Markers of a curve, about, where it has more points."""
_BACKGROUND: dict[str, Any] = {"color": "0.85", "linewidth": 0.6, "zorder": 1}
_LEVEL: dict[str, Any] = {"color": "0.4", "linewidth": 0.8, "linestyle": ":"}


@dataclass(frozen=True)
class TrainedRun:
    """A run of a study: its settings, a row a validation with `updates` and the quantities (None where the run is not
    done), and the update at which it diverged, if it did."""

    settings: ModelSettings
    points: pd.DataFrame | None
    diverged: int | None


@dataclass(frozen=True)
class Failure:
    """A run that diverged: its seed, the update at which it did, and its points until then, `x` and `value`."""

    seed: int
    update: float
    points: pd.DataFrame


@dataclass(frozen=True)
class Curve:
    """The runs that differ in the seed alone.

    Attributes:
        name: what the legend calls it.
        look: in the terms of `Axes.plot`.
        points: the mean over the seeds that finished: `x`, `value`, `low`, `high` and `seeds`.
        runs: how many are done, with those that failed.
    """

    name: str
    settings: ModelSettings
    look: Look
    points: pd.DataFrame
    failures: tuple[Failure, ...] = ()
    runs: int = 1

    @property
    def finished(self) -> int:
        """The number of seeds that finished."""
        return self.runs - len(self.failures)

    @property
    def legend(self) -> str:
        """The name with the updates at which its seeds diverged."""
        if not self.failures:
            return self.name
        updates = ", ".join(
            f"{failure.update:.0f}" for failure in sorted(self.failures, key=lambda failure: failure.update)
        )
        of = f"{len(self.failures)} of {self.runs} " if self.runs > 1 else ""
        return f"{self.name}; {of}diverged at update{'s' if len(self.failures) > 1 else ''} {updates}"


@dataclass(frozen=True)
class Reference:
    """A curve or a value that the study's are compared with; `points` are x and y, and `look` is in the terms of
    `Axes.plot`. One without a name is not in the legend."""

    name: str
    points: tuple[tuple[float, float], ...]
    look: dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """A pair of axes with the study's curves, and the paper's as references.

    Attributes:
        baseline: the loss above which nothing was learned, with its name; what is far above is drawn at the edge.
        is_score: whether the values are scores, of which 0 is the worst.
        levels: the heights of dotted lines across the panel.
        ticks: marks at the lower edge: where, and in which colour.
        log: the axes that are logarithmic, among `x` and `y`.
        ends: what the ends of a band are called.
        scale: panels of the same have one axis of values; empty for a panel of its own.
        drawn_alone: whether the figure is drawn even if no panel of it has a curve.
    """

    title: str
    y_title: str
    curves: tuple[Curve, ...]
    references: tuple[Reference, ...] = ()
    x_title: str = "Update"
    baseline: tuple[float, str] | None = None
    is_score: bool = False
    levels: tuple[float, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    log: frozenset[str] = field(default_factory=frozenset)
    ends: tuple[str, str] = EXTENT
    scale: str = ""
    drawn_alone: bool = False

    @property
    def heading(self) -> str:
        """The title, with the quantity where the title does not say it."""
        quantity = self.y_title.partition(" (")[0]
        said = quantity.split()[-1].lower() in self.title.lower()
        return self.title if said else ": ".join(filter(None, (self.title, quantity)))

    @cached_property
    def values(self) -> list[float]:
        """Every finite value of the study's curves."""
        known = [curve.points[end] for curve in self.curves for end in ("value", "low", "high")]
        known += [failure.points["value"] for curve in self.curves for failure in curve.failures]
        return [value for column in known for value in column if math.isfinite(value)]

    @cached_property
    def top(self) -> float | None:
        """The end of an axis of losses that is cut off; None where no value is far above the baseline."""
        if self.baseline is None or not (values := self.values):
            return None
        lowest, guess = min(values), self.baseline[0]
        top = guess + _HEADROOM * (guess - lowest)
        return top if lowest < guess and max(values) > top else None

    @cached_property
    def background(self) -> tuple[Any, Any]:
        """All curves as one line, with a gap after each."""
        tables = [
            table for curve in self.curves for table in (curve.points, *(failure.points for failure in curve.failures))
        ]
        parts = [part for table in tables for part in (table[["x", "value"]].to_numpy(dtype=float), [[math.nan] * 2])]
        x, y = np.concatenate(parts).T
        return x, y if self.top is None else y.clip(max=self.top)

    @property
    def shows_baseline(self) -> bool:
        """True where some curve comes near the baseline, or none below it."""
        if self.baseline is None or not (values := self.values):
            return False
        lowest, guess = min(values), self.baseline[0]
        return max(values) > guess - 0.1 * (guess - lowest)


def legible(study: Study, runs: Sequence[S]) -> Sequence[S]:
    """All runs of a study, unless they are more curves than a reader looks through."""
    return runs if len(by_series(runs)) <= _MOST_CURVES else []


def _mean(runs: Sequence[TrainedRun], quantity: str, name: str, look: Look) -> Curve | None:
    """The curve of a quantity of runs that differ in the seed alone; None where none of them is done."""
    done = [run for run in runs if run.points is not None]
    if not done:
        return None
    failures = tuple(
        Failure(run.settings.seed, run.diverged, _recorded(run, quantity)) for run in done if run.diverged is not None
    )
    finished = [_recorded(run, quantity) for run in done if run.diverged is None]
    points = pd.concat([pd.DataFrame({"x": [], "value": []}, dtype=float), *finished])
    points = points.assign(curve="", step=points.index)
    # Seeds differ a little in the updates of an epoch; their mean is drawn at the mean of these.
    where = points.groupby("step")["x"].agg(mean)
    table = means(points, "step", extent)
    numbers = table[["value", "low", "high"]].astype(float).assign(x=table["step"].map(where).astype(float))
    return Curve(name, series(done[0].settings), look, numbers.assign(seeds=table["seeds"]), failures, len(done))


def _recorded(run: TrainedRun, quantity: str) -> pd.DataFrame:
    """The points of a run that have a finite value: `x` and `value`, in order."""
    if run.points is None or quantity not in run.points:
        return pd.DataFrame({"x": [], "value": []}, dtype=float)
    points = run.points[["updates", quantity]].astype(float).set_axis(["x", "value"], axis=1)
    finite: pd.DataFrame = points[np.isfinite(points["value"])].reset_index(drop=True)
    return finite


def curves_of(
    runs: Sequence[TrainedRun], quantity: str, called: dict[Any, str], looks: dict[Any, Look]
) -> tuple[Curve, ...]:
    """The curves of all runs, by their names and looks."""
    means = (_mean(members, quantity, called[key], looks[key]) for key, members in by_series(runs).items())
    return tuple(curve for curve in means if curve is not None)


def figure(
    drawn: Callable[[Study, R], tuple[list[list[Panel]], str]],
    *,
    name: str,
    title: str,
    caption: str,
    source: Source[Any, R],
    of: Callable[[Study, Sequence[Any]], Sequence[Any]] = Figure.of,
    legend_by_column: bool = False,
) -> Figure[R]:
    """A figure of curves, declared as any `Figure`: `drawn` makes its panels by row and column, and the note below."""
    return Figure(
        name=name,
        title=title,
        caption=caption,
        source=source,
        of=of,
        compose=lambda study, records: compose(*drawn(study, records), legend_by_column=legend_by_column),
        curves=lambda study, records: curves(drawn(study, records)[0]),
    )


def compose(grid: Sequence[Sequence[Panel]], note: str, *, legend_by_column: bool = False) -> mpl.figure.Figure:
    """The figure: the panels by row and column, a legend below all of them or below each column, and the note below
    that. A row or a column of panels none of which has a curve or a reference is left out."""
    grid = _filled(grid)
    panels = [panel for row in grid for panel in row]
    if not any(panel.curves or panel.drawn_alone for panel in panels):
        raise NothingDone
    if any(len(panel.curves) > MOST for panel in panels):
        return _small_multiples(panels, note)
    columns = len(grid[0])
    width = COLUMN_WIDTH if columns == 1 else TEXT_WIDTH
    parts = list(zip(*grid, strict=True)) if legend_by_column else [panels]
    legends = [_Legend(_entries(part), width / len(parts)) for part in parts]
    below = max(legend.height for legend in legends)
    height = max(_PANEL_HEIGHT * len(grid), 2.1 * below)
    figure, bottom = _sheet(width, height, below, f"{note} {_remarks(panels)}".strip())
    cells = figure.add_gridspec(len(grid), columns)
    scales: dict[str, mpl.axes.Axes] = {}
    for i, row in enumerate(grid):
        for j, panel in enumerate(row):
            axes = figure.add_subplot(cells[i, j], ylabel=panel.y_title, sharey=scales.get(panel.scale))
            if panel.scale:
                scales.setdefault(panel.scale, axes)
            if i == 0 or grid[i - 1][j].title != panel.title:
                axes.set_title(panel.title)
            _draw(axes, panel)
            # The last of a column, whose last row may be shorter.
            if i == len(grid) - 1 or j >= len(grid[i + 1]):
                axes.set_xlabel(panel.x_title)
    for number, legend in enumerate(legends):
        legend.draw(figure, ((number + 0.5) / len(legends), bottom))
    return figure


def curves(grid: Sequence[Sequence[Panel]]) -> list[Curves]:
    """The figure as numbers: the curves of each panel that holds them, the paper's with them."""
    charts = []
    for panel in (panel for row in grid for panel in row if len(panel.curves) <= MOST):
        tables, ended = [], []
        drawn: dict[str, Mapping[str, Any]] = {}
        for curve in panel.curves:
            drawn[curve.name] = curve.look
            tables.append(curve.points.assign(curve=curve.name))
            for failure in curve.failures:
                # A seed that diverged is no part of its run's mean.
                name = f"{curve.name}, seed {failure.seed}"
                drawn[name] = {**curve.look, "linewidth": 0.6}
                ended.append(f"{name} at update {failure.update:.0f}")
                tables.append(failure.points.assign(curve=name, low=math.nan, high=math.nan, seeds=1))
        tables = [table for table in tables if len(table)]
        if not tables:
            continue
        table = pd.concat(tables, ignore_index=True)[["curve", "x", "value", "low", "high", "seeds"]]
        references = [reference for reference in panel.references if reference.name]
        if panel.baseline and panel.shows_baseline:
            level, name = panel.baseline
            references.append(Reference(name, tuple((x, level) for x in (table["x"].min(), table["x"].max())), _LEVEL))
        compared = [
            {"curve": reference.name, "x": x, "value": y} for reference in references for x, y in reference.points
        ]
        drawn |= {reference.name: reference.look for reference in references}
        charts.append(
            Curves(
                title=panel.heading,
                x="x",
                x_title=panel.x_title,
                y_title=panel.y_title,
                table=table,
                reference=pd.DataFrame(compared),
                looks=drawn,
                log=panel.log,
                ends=panel.ends,
                note=f"Diverged: {'; '.join(ended)}." if ended else "",
            )
        )
    return charts


def progress(study: str, texts: Iterable[str], runs: Sequence[TrainedRun]) -> str:
    """A sentence that counts the runs in the figure, and those that diverged."""
    done = [run for run in runs if run.points is not None]
    failed = sum(run.diverged is not None for run in done)
    origin = ", ".join([f"Study {study}", *map(text_name, dict.fromkeys(texts))])
    return f"{origin}: {len(done)} of {len(runs)} runs" + (f", {failed} diverged (×)." if failed else ".")


def shared(text: str) -> str:
    """The settings that most curves share, as a sentence of the note; empty where they share none."""
    return f"Where not named: {text}." if text else ""


def _filled(grid: Sequence[Sequence[Panel]]) -> list[list[Panel]]:
    """The grid without the rows and columns that would be empty."""
    filled = [
        [bool(panel.values or panel.references or any(curve.failures for curve in panel.curves)) for panel in row]
        for row in grid
    ]
    columns = [number for number, column in enumerate(zip_longest(*filled)) if any(column)]
    return [
        [row[number] for number in columns if number < len(row)]
        for row, full in zip(grid, filled, strict=True)
        if any(full)
    ]


def _sheet(
    width: float, height: float, below: float, note: str, layout: Literal["constrained"] | None = "constrained"
) -> tuple[mpl.figure.Figure, float]:
    """A figure with `height` inches for panels and `below` for the legends, and the note at its foot; and where the
    legends begin, as a share of the whole height."""
    lines = textwrap.wrap(note, width=round(width * 23), break_on_hyphens=False)
    foot = _NOTE_LINE * len(lines) + _GAP
    whole = height + below + foot + 3 * _GAP
    figure = mpl.figure.Figure(figsize=(width, whole), layout=layout)
    if engine := figure.get_layout_engine():
        bottom = (below + foot + 2 * _GAP) / whole
        engine.set(rect=(0, bottom, 1, 1 - bottom))  # type: ignore[call-arg]
    figure.text(0.5, 0, "\n".join(lines), ha="center", va="bottom", linespacing=1.15, **NOTE)
    return figure, (below + foot + _GAP) / whole


class _Legend:
    """A legend of as many columns as its width has room for, with its height in inches."""

    def __init__(self, entries: Sequence[tuple[tuple[Any, ...], str]], width: float) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self._look: dict[str, Any] = {}
        self.height = 0.0
        # The flattest that fits.
        for columns in (1, 2, 3) if entries else ():
            characters = round((width / columns - 0.5) * 21)
            look: dict[str, Any] = {
                "handles": [handles for handles, _ in entries],
                "labels": [textwrap.fill(text, characters, break_on_hyphens=False) for _, text in entries],
                "ncols": min(columns, len(entries)),
                "frameon": False,
                "handlelength": 2.6,
                "labelspacing": 0.25,
                "columnspacing": 1.2,
                "borderaxespad": 0,
                "borderpad": 0,
            }
            trial = mpl.figure.Figure(figsize=(width, 1))
            renderer = FigureCanvasAgg(trial).get_renderer()  # type: ignore[no-untyped-call]
            box = trial.legend(**look).get_window_extent(renderer)
            height = float(box.height / trial.dpi)
            if not self._look or (box.width / trial.dpi < width and height < self.height):
                self._look, self.height = look, height

    def draw(self, figure: mpl.figure.Figure, top: tuple[float, float]) -> None:
        """Draw it with the middle of its upper edge at `top`, in shares of the figure."""
        if self._look:
            figure.legend(loc="upper center", bbox_to_anchor=top, **self._look)


def _entries(panels: Iterable[Panel]) -> list[tuple[tuple[Any, ...], str]]:
    """For each curve and reference of the panels, what is drawn over each other in a legend, and the text."""
    panels = list(panels)
    entries: dict[str, tuple[Any, ...]] = {}
    n = _seeds(panels)
    for panel in panels:
        for curve in panel.curves:
            text = _with_seeds(curve, n)
            handles: list[Any] = []
            if len(curve.points) or any(len(failure.points) for failure in curve.failures):
                handles.append(mpl.lines.Line2D([], [], **curve.look))
            if curve.failures:
                handles.append(mpl.lines.Line2D([], [], **cross(curve.look["color"])))
            # A curve without points in one panel has its line in another.
            if handles and len(handles) >= len(entries.get(text, ())):
                entries[text] = tuple(handles)
    for panel in panels:
        for reference in panel.references:
            if reference.name:
                entries.setdefault(reference.name, (mpl.lines.Line2D([], [], **reference.look),))
    for panel in panels:
        if panel.shows_baseline and panel.baseline:
            entries.setdefault(panel.baseline[1], (mpl.lines.Line2D([], [], **_LEVEL),))
    return [(handles, text) for text, handles in entries.items()]


def _seeds(panels: Iterable[Panel]) -> int | None:
    """The seeds that finished of every curve; None where they are not as many of each."""
    counts = {curve.finished for panel in panels for curve in panel.curves}
    return counts.pop() if len(counts) == 1 else None


def _remarks(panels: Sequence[Panel]) -> str:
    """The meaning of the bands, and of values at the upper edge."""
    remarks = []
    if any(curve.runs > 1 for panel in panels for curve in panel.curves):
        n = _seeds(panels)
        seeds = "the n seeds that finished" if n is None else f"the seeds that finished (n = {n})"
        remarks.append(f"Lines: mean of {seeds}; bands: lowest to highest.")
    if cut := [panel.baseline[1] for panel in panels if panel.top is not None and panel.baseline]:
        remarks.append(f"Losses far above the {cut[0]} are drawn at the upper edge.")
    return " ".join(remarks)


def _draw(axes: mpl.axes.Axes, panel: Panel, shown: Sequence[Curve] | None = None) -> None:
    """The curves of a panel, with the paper's behind them; or those that are `shown` of them, one alone before all
    others."""
    top = panel.top
    limit = math.inf if top is None else top
    shown = panel.curves if shown is None else shown
    alone = len(shown) == 1 < len(panel.curves)
    if alone:
        axes.plot(*panel.background, **_BACKGROUND)
    for reference in panel.references:
        if reference.points:
            axes.plot(*zip(*reference.points, strict=True), **reference.look)
    for curve in shown:
        colour = curve.look["color"]
        # A curve at the upper edge keeps the whole of its line.
        look = {"zorder": 3, **curve.look, "clip_on": top is None}
        updates = curve.points["x"]
        value, low, high = (curve.points[name].clip(upper=limit) for name in ("value", "low", "high"))
        axes.plot(updates, value, **look, markevery=max(1, len(updates) // _MARKED))
        axes.fill_between(updates, low, high, color=colour, alpha=0.2, linewidth=0)
        if len(updates) == 1:
            axes.vlines(updates, low, high, color=colour, linewidth=0.7)
        for failure in curve.failures:
            points = failure.points
            if len(points):
                axes.plot(points["x"], points["value"].clip(upper=limit), **{**look, "linewidth": 0.6})
            # On the edge, for a run that diverges has no value there.
            place: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False, "zorder": 4}
            axes.plot([failure.update], [0.0 if panel.is_score else 1.0], **cross(colour), **place)
    for level in [*panel.levels, *([panel.baseline[0]] if panel.baseline and panel.shows_baseline else [])]:
        axes.axhline(level, **_LEVEL, zorder=2)
    for x, colour in panel.ticks:
        axes.axvline(x, ymax=0.04, color=colour, linewidth=1.4, zorder=2)
    _scale(axes, panel, top)
    is_small = len(shown) < len(panel.curves)
    if "x" in panel.log:
        axes.set_xscale("log")
        plain_ticks(axes.xaxis, 5 if is_small else 10)
    else:
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(nbins=3 if is_small else 5, integer=True))
        axes.set_xlim(left=0)
    if "y" in panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(mpl.ticker.LogFormatter(minor_thresholds=(1.2, 0.5)))


def _scale(axes: mpl.axes.Axes, panel: Panel, top: float | None) -> None:
    values = panel.values
    if not values and not any(reference.points for reference in panel.references):
        # Crosses alone: every run diverged before its first validation.
        axes.set_yticks([])
    elif top is not None:
        lowest = min([*values, *(y for reference in panel.references for _, y in reference.points)])
        axes.set_ylim(lowest - 0.05 * (top - lowest), top)
    elif panel.is_score:
        # A model that has learned nothing is shown as flat, not its noise enlarged.
        highest = max(1.0, axes.get_ylim()[1])
        axes.set_ylim(-0.02 * highest, highest)


def _with_seeds(curve: Curve, n: int | None) -> str:
    """The text of a curve in a legend, with how many of its seeds finished where that is not `n` for all."""
    return curve.legend if n is not None or curve.runs < 2 else f"{curve.legend}, n\xa0=\xa0{curve.finished}"


def _facets(curves: Sequence[Curve], n: int | None) -> tuple[list[tuple[str, list[Curve]]], list[tuple[Curve, str]]]:
    """The small multiples of some curves, by their titles, and what the legend below all of them says; `n` as in
    `_with_seeds`.

    Where one setting makes few panels of many curves (settings that change together are one), the colours of a panel
    are its values; else each curve has a panel.
    """
    settings = list(dict.fromkeys(curve.settings for curve in curves))
    values: dict[tuple[int, ...], set[str]] = {}
    # In one order, or else a tie would be broken by how this process hashes.
    for key in sorted(varying(settings) - {"seed"}):
        seen = [getattr(run, key) for run in settings]
        values.setdefault(tuple(seen.index(value) for value in seen), set()).add(key)
    best: tuple[int, set[str]] = (len(settings), set())
    for partition, keys in values.items():
        rest = varying(settings) - keys
        count = len({tuple(repr(getattr(run, key)) for key in sorted(rest)) for run in settings})
        if len(set(partition)) <= MOST / 2 and count < best[0]:
            best = count, keys
    count, keys = best
    if count > len(settings) / 2:
        return [(_with_seeds(curve, n), [curve]) for curve in curves], []
    titles, _ = names(settings, {"placement"}, keys)
    texts = {run: label(run, keys, with_warmup="warmup" in keys) or "without" for run in settings}
    order = list(dict.fromkeys(texts.values()))
    colours = gradation(range(len(order)))
    shades = {text: {"color": colours[i], "marker": MARKERS[i], "linestyle": "-"} for i, text in enumerate(order)}
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        look = {**curve.look, **shades[texts[curve.settings]], "markersize": 2.4}
        groups.setdefault(titles[curve.settings], []).append(replace(curve, look=look))
    shown = {texts[curve.settings]: curve for group in groups.values() for curve in group}
    return list(groups.items()), [(shown[text], text) for text in order]


def _small_multiples(panels: Sequence[Panel], note: str) -> mpl.figure.Figure:
    """Each panel as a block of small multiples with common axes, one block below the other."""
    n = _seeds(panels)
    blocks = [_Block(panel, n) for panel in panels]
    entries = next((block.legend for block in blocks if block.legend), [])
    if any(block.alone for block in blocks):
        entries = [*entries, ((mpl.lines.Line2D([], [], **_BACKGROUND),), "the other curves")]
    if baselines := [panel.baseline[1] for panel in panels if panel.baseline and panel.shows_baseline]:
        entries = [*entries, ((mpl.lines.Line2D([], [], **_LEVEL),), baselines[0])]
    legend = _Legend(entries, TEXT_WIDTH)
    remarks = f"{note} {_remarks(panels)}".strip()
    heights = [sum(block.heights) for block in blocks]
    # Places are known in inches; a layout that looks for room would take a minute for so many panels.
    figure, bottom = _sheet(TEXT_WIDTH, sum(heights), legend.height, remarks, layout=None)
    top = figure.get_figheight()
    for block, height in zip(blocks, heights, strict=True):
        block.draw(figure, top)
        top -= height
    legend.draw(figure, (0.5, bottom))
    return figure


class _Block:
    """The small multiples of one panel; a panel without curves of the study is one, with its legend beside it."""

    def __init__(self, panel: Panel, n: int | None) -> None:
        self._panel = panel
        facets, shown = _facets(panel.curves, n) if panel.curves else ([], [])
        self.legend = [((mpl.lines.Line2D([], [], **curve.look),), text) for curve, text in shown]
        self._x_title = textwrap.fill(panel.x_title, 24)
        self.alone = any(len(group) == 1 for _, group in facets)
        self.across = next((n for n in (6, _ACROSS) if len(facets) == n), min(_ACROSS, max(1, len(facets))))
        characters = round((TEXT_WIDTH - _LEFT) / self.across * 21)
        self._facets = [(textwrap.fill(title, characters, break_on_hyphens=False), group) for title, group in facets]
        self.heights = [_PANEL_HEIGHT + 0.6]
        if facets:
            rows = [self._facets[start : start + self.across] for start in range(0, len(facets), self.across)]
            titles = [max(title.count("\n") + 1 for title, _ in row) for row in rows]
            self.heights = [_SMALL_HEIGHT + _TITLE_LINE * lines for lines in titles]
            self._foot = _FOOT + _TITLE_LINE * self._x_title.count("\n")
            self.heights[-1] += self._foot

    def draw(self, figure: mpl.figure.Figure, top: float) -> None:
        """Draw it from a height of the figure downwards, in inches."""
        panel, count = self._panel, len(self._facets)
        if not self._facets:
            axes = figure.add_axes(_place(figure, _LEFT, top - _PANEL_HEIGHT - 0.2, TEXT_WIDTH / 2, _PANEL_HEIGHT))
            axes.set(title=panel.title, xlabel=panel.x_title, ylabel=panel.y_title)
            _draw(axes, panel)
            handles, texts = zip(*_entries([panel]), strict=True)
            axes.legend(handles, texts, loc="center left", bbox_to_anchor=(1.05, 0.5), frameon=False)
            return
        # A formula is not broken.
        axis = panel.y_title if "$" in panel.y_title else textwrap.fill(panel.y_title, 18)
        if panel.title not in panel.y_title:
            axis = f"{textwrap.fill(panel.title, 18)}\n{axis}"
        width = (TEXT_WIDTH - _LEFT) / self.across
        first: mpl.axes.Axes | None = None
        for number, (text, shown) in enumerate(self._facets):
            row, column = divmod(number, self.across)
            left, bottom = _LEFT + column * width, top - sum(self.heights[: row + 1])
            bottom += self._foot if row == len(self.heights) - 1 else 0
            place = _place(figure, left, bottom + _TICKS, width - 0.12, _SMALL_HEIGHT - _TICKS - 0.08)
            axes = figure.add_axes(place, sharex=first, sharey=first)
            first = first or axes
            axes.set_title(text, fontsize=6.5, pad=2)
            _draw(axes, panel, shown)
            at_foot = number + self.across >= count
            axes.tick_params(labelleft=column == 0, labelbottom=at_foot, labelsize=6)
            if column == 0:
                axes.set_ylabel(axis, fontsize=6.5)
            if at_foot:
                axes.set_xlabel(self._x_title, fontsize=6.5, labelpad=1)


def _place(
    figure: mpl.figure.Figure, left: float, bottom: float, width: float, height: float
) -> tuple[float, float, float, float]:
    """A rectangle in inches as shares of the figure."""
    across, up = figure.get_size_inches()
    return left / across, bottom / up, width / across, height / up
