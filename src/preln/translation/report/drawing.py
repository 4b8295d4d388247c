"""How the paper's figures are drawn from the records of a study's runs; each figure's own module says what is in it.

Curves go over updates, so that a short run lies where it belongs beside the paper's curves, whose epochs are placed by
their updates: an epoch is of whatever text a study has.

Lines are means over the seeds that finished; the band is from the lowest to the highest of them. A seed that
diverged is no part of the mean: it is drawn by itself, thinly, up to its last epoch, which bears a cross.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preln.config import RunSettings, Study
from preln.jobs.runs import Run, series
from preln.libraries import pd
from preln.report.core.curves import EXTENT, PAPER, Curves, by_series, means
from preln.report.core.figure import NothingDone
from preln.report.core.labels import label, varying
from preln.report.core.statistics import extent
from preln.report.core.style import COLUMN_WIDTH, NOTE, TEXT_WIDTH, Style, cross, legend_below, line, styles
from preln.report.reference import translation as paper
from preln.report.reference.translation import Quantity, Reference
from preln.translation.report.records import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_QUANTITIES = {"valid_loss": "loss", "bleu": "BLEU"}
_AXIS_LABELS = {"valid_loss": "Validation loss (bits/token)", "bleu": "Test BLEU"}
COLUMNS: dict[Quantity, str] = {"valid_loss": "valid_loss", "bleu": "test_bleu"}
_PAPER_GREY = {"adam": "0.45", "radam": "0.7", "sgd": "0.45"}
_POINTS = ["*", "P", "p", "d", "h"]
_LINE_HEIGHT = 0.135  # inches, of a line of a legend
_PANEL_HEIGHT = 1.75  # inches


@dataclass(frozen=True)
class Panel:
    """One pair of axes: a quantity of some runs, with the paper's numbers for it. A title stands once in a column."""

    title: str
    quantity: Quantity
    runs: tuple[Run, ...]
    references: tuple[Reference, ...]


@dataclass(frozen=True)
class Layout:
    """What is particular to one of the paper's figures.

    `panels` gives, of the study and the figure's runs, the panels by row and column. `legend_by_column` puts a legend
    under each column instead of one under all; `always` are settings that its labels name even where a study has
    but one value of them.
    """

    panels: Callable[[Study, Sequence[Run]], list[list[Panel]]]
    legend_by_column: bool = False
    always: frozenset[str] = frozenset()


def in_figure(number: int) -> Callable[[Study, Sequence[Run]], list[Run]]:
    """Which runs one of the paper's figures shows: those whose settings name it."""
    return lambda study, runs: [run for run in runs if number in run.figures]


def compose(layout: Layout, study: Study, records: Records) -> Figure:
    """The figure as a matplotlib figure; `records` are those of its runs. A row or a column of panels none of whose
    runs is done is left out."""
    from matplotlib.figure import Figure

    grid = _with_runs(layout.panels(study, records.runs), records)
    look = styles(records.runs)
    everything = [panel for row in grid for panel in row]
    markers = _paper_markers([entry for panel in everything for entry in panel.references])
    columns = list(zip(*grid, strict=True))
    if layout.legend_by_column:
        legends = [_legend(column, look, markers, records) for column in columns]
    else:
        legends = [_legend(everything, look, markers, records, layout.always)]
    across = len(columns) // len(legends)
    lines = max(sum(text.count("\n") + 1 for _, text in legend) for legend in legends) / across
    legend_height = _LINE_HEIGHT * (math.ceil(lines) + 1)
    width = COLUMN_WIDTH if len(columns) == 1 else TEXT_WIDTH
    note = textwrap.fill(_note(study, everything, records), width=round(width * 24))
    height = _PANEL_HEIGHT * len(grid) + legend_height + _LINE_HEIGHT * (note.count("\n") + 2)
    figure = Figure(figsize=(width, height), layout="constrained")
    space = figure.add_gridspec(
        len(grid) + 1, len(columns), height_ratios=[*([_PANEL_HEIGHT] * len(grid)), legend_height]
    )
    for i, row in enumerate(grid):
        for j, panel in enumerate(row):
            axes = figure.add_subplot(space[i, j])
            if i == 0 or grid[i - 1][j].title != panel.title:
                axes.set_title(panel.title)
            _draw_panel(axes, panel, study, look, markers, records)
            if i == len(grid) - 1:
                axes.set_xlabel("Update")
    for j, legend in enumerate(legends):
        legend_below(
            figure,
            space[-1, j] if len(legends) > 1 else space[-1, :],
            [handle for handle, _ in legend],
            labels=[text for _, text in legend],
            loc="upper center",
            ncols=across,
            borderaxespad=0,
            handlelength=2.8,
            labelspacing=0.25,
            columnspacing=1.2,
        )
    figure.align_ylabels()
    figure.supxlabel(note, **NOTE)
    return figure


def panel(number: int, study: Study, title: str, quantity: Quantity, letter: str, runs: Sequence[Run]) -> Panel:
    """A panel with the paper's numbers behind it, where the study repeats the paper on the paper's corpus."""
    of_the_paper = study.paper_settings or study.paper_curves
    comparable = of_the_paper and any(study.corpora[run.settings.corpus].source == "iwslt14" for run in runs)
    references = [
        entry
        for entry in paper.load()
        if comparable and (entry.figure, entry.panel, entry.quantity) == (number, letter, quantity)
    ]
    return Panel(title, quantity, tuple(runs), tuple(references))


def curves(layout: Layout, study: Study, records: Records) -> list[Curves]:
    """The figure as numbers: the curves of each panel, the paper's with them."""
    differing = varying(run.settings for run in records.runs) | layout.always
    diverged = records.summary[records.summary["status"] == "diverged"].set_index("run")["diverged_update"]
    names = {run.id: label(series(run.settings), differing) for run in records.runs}
    # A seed that diverged is no part of its run's mean.
    names |= {run.id: f"{names[run.id]}, seed {run.settings.seed}" for run in records.runs if run.id in diverged.index}
    found = []
    for panel in [panel for row in layout.panels(study, records.runs) for panel in row]:
        known = _recorded(panel, records)
        if known.empty:
            continue
        known = known.assign(curve=known["run"].map(names), value=known[COLUMNS[panel.quantity]])
        paper = [
            {"curve": f"{PAPER}: {entry.series} ({entry.how_known})", "update": entry.update, "value": entry.y}
            for entry in panel.references
            if entry.y is not None
        ]
        axis = _AXIS_LABELS[panel.quantity]
        ended = [f"{names[run.id]} at update {diverged[run.id]}" for run in panel.runs if run.id in diverged.index]
        found.append(
            Curves(
                title=f"{panel.title}: {axis}" if panel.title else axis,
                x="update",
                x_title="Update",
                y_title=axis,
                table=means(known, "update", extent),
                reference=pd.DataFrame(paper),
                ends=EXTENT,
                note=f"Diverged: {'; '.join(ended)}." if ended else "",
            )
        )
    return found


def _with_runs(grid: Sequence[Sequence[Panel]], records: Records) -> list[list[Panel]]:
    """The rows and columns of a grid of panels in which some run is done.

    Raises:
        NothingDone: if there is none.
    """
    done = set(records.summary["run"])

    def has_runs(panels: Sequence[Panel]) -> bool:
        return any(run.id in done for panel in panels for run in panel.runs)

    columns = [number for number, column in enumerate(zip(*grid, strict=True)) if has_runs(column)]
    if not columns:
        raise NothingDone
    return [[row[number] for number in columns] for row in grid if has_runs(row)]


def _draw_panel(
    axes: Axes,
    panel: Panel,
    study: Study,
    look: dict[RunSettings, Style],
    markers: dict[Reference, str],
    records: Records,
) -> None:
    """The curves of a panel, the paper's behind them."""
    import seaborn
    from matplotlib.ticker import MaxNLocator

    axes.set_ylabel(_AXIS_LABELS[panel.quantity])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    column = COLUMNS[panel.quantity]
    done = records.summary[records.summary["run"].isin([run.id for run in panel.runs])].set_index("run")
    known = _recorded(panel, records)
    if known.empty:
        # Every run that is done diverged in its first epoch: there are crosses, and no values.
        axes.set_yticks([])
    _draw_references(axes, panel, markers)
    ceiling = _ceiling(panel, study, known)
    for key, members in by_series(panel.runs).items():
        style = look[key]
        finished = [run.id for run in members if run.id in done.index and done.status[run.id] == "finished"]
        if finished:
            seaborn.lineplot(
                known[known["run"].isin(finished)],
                x="update",
                y=column,
                # The interval of 100 percent: from the lowest to the highest.
                errorbar=("pi", 100),
                err_kws={"linewidth": 0, "alpha": 0.2},
                ax=axes,
                legend=False,
                **_line_look(style),
            )
        for run in members:
            if run.id in done.index and done.status[run.id] == "diverged":
                curve = known[known["run"] == run.id]
                _draw_diverged(axes, curve, column, style, ceiling, done.diverged_update[run.id])
    # The plotting function names the axes after the columns.
    axes.set(xlabel="", ylabel=_AXIS_LABELS[panel.quantity])
    axes.set_xlim(left=0)
    if ceiling is not None:
        lowest = min([known[column].min(), *(entry.y for entry in panel.references if entry.y is not None)])
        axes.set_ylim(lowest - 0.05 * (ceiling - lowest), ceiling)
    if panel.quantity == "bleu" and len(known):
        # A model that has learned nothing is shown as flat, not its noise enlarged.
        top = max(1.0, axes.get_ylim()[1])
        axes.set_ylim(-0.02 * top, top)


def _draw_diverged(
    axes: Axes, curve: pd.DataFrame, column: str, style: Style, ceiling: float | None, update: int
) -> None:
    """One seed that diverged, thinly, with a cross on its last epoch; on the edge of the axes if it has none, at the
    update at which it diverged."""
    curve = curve[curve[column].map(math.isfinite)]
    if curve.empty:
        edge = 1 if column == "valid_loss" else 0
        axes.plot(update, edge, **cross(style.colour), clip_on=False, zorder=4, transform=axes.get_xaxis_transform())
        return
    axes.plot(curve["update"], curve[column], **{**_line_look(style), "linewidth": 0.6})
    last = curve.iloc[-1]
    height = last[column] if ceiling is None else min(last[column], ceiling)
    axes.plot(last["update"], height, **cross(style.colour), clip_on=False, zorder=4)


def _draw_references(axes: Axes, panel: Panel, markers: dict[Reference, str]) -> None:
    """The paper's curves and single values, in grey."""
    for entries in _paper_curves(panel.references).values():
        points = [(entry.update, entry.y) for entry in entries if entry.y is not None]
        axes.plot(*zip(*points, strict=True), **_paper_line(entries[0]))
    for entry in panel.references:
        if entry in markers and entry.y is not None:
            axes.plot(entry.update, entry.y, **_paper_marker(markers[entry]))


def _recorded(panel: Panel, records: Records) -> pd.DataFrame:
    """What is known of the curves of a panel's runs. `update` is where an epoch is drawn: seeds differ a little in the
    updates of an epoch, and their mean is that of a curve."""
    known = records.curves[records.curves["run"].isin([run.id for run in panel.runs])]
    numbers = {run.id: number for number, runs in enumerate(by_series(panel.runs).values()) for run in runs}
    updates = known["updates"].astype(float).groupby([known["run"].map(numbers), known["epoch"]])
    return known.assign(update=updates.transform("mean"))


def _ceiling(panel: Panel, study: Study, known: pd.DataFrame) -> float | None:
    """Where the loss axis is cut, if a curve goes above: at a uniform guess, log2 of the vocabulary."""
    if panel.quantity != "valid_loss" or known.empty:
        return None
    guess = max(math.log2(study.corpora[run.settings.corpus].vocabulary) for run in panel.runs)
    return guess if known["valid_loss"].min() < guess < known["valid_loss"].max() else None


def _legend(
    shown: Sequence[Panel],
    look: dict[RunSettings, Style],
    markers: dict[Reference, str],
    records: Records,
    always: frozenset[str] = frozenset(),
) -> list[tuple[tuple[Line2D, ...], str]]:
    """For each curve of the panels, the handles that are drawn over each other, and the text; labels have the
    settings that differ between the curves and those in `always`."""
    from matplotlib.lines import Line2D

    runs = list(dict.fromkeys(run for panel in shown for run in panel.runs))
    done = records.summary.set_index("run")
    differing = varying(run.settings for run in runs) | always
    with_curve = set(records.curves["run"]) & {run.id for run in runs}
    entries: list[tuple[tuple[Line2D, ...], str]] = []
    for key, members in by_series(runs).items():
        recorded = [run.id for run in members if run.id in done.index]
        if not recorded:
            continue
        diverged = done.loc[recorded][done.loc[recorded, "status"] == "diverged"]
        text = label(key, differing)
        if len(members) > 1:
            # Spaces at which the text is not wrapped.
            text += f", n\xa0=\xa0{len(recorded) - len(diverged)}"
        if len(diverged):
            text += f"; {_divergence(diverged, len(members))}"
        handles = []
        if with_curve & set(recorded):
            handles.append(Line2D([], [], **_line_look(look[key])))
        if len(diverged):
            handles.append(Line2D([], [], **cross(look[key].colour)))
        entries.append((tuple(handles), _wrapped(text)))
    if not with_curve:
        return entries
    references = list(dict.fromkeys(entry for panel in shown for entry in panel.references))
    for name, curve in _paper_curves(references).items():
        entries.append(((Line2D([], [], **_paper_line(curve[0])),), _wrapped(f"paper: {name}")))
    for entry in references:
        if entry in markers:
            text = _wrapped(f"paper: {entry.series}: {entry.statement} ({entry.how_known})")
            look_of = _paper_marker(markers[entry]) if entry.y is not None else {"linestyle": "none"}
            entries.append(((Line2D([], [], **look_of),), text))
    return entries


def _line_look(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour,
        "linestyle": style.line,
        "linewidth": 1.1,
        "marker": style.marker,
        "markersize": 3.4,
        "markeredgecolor": style.colour,
        "markeredgewidth": 0.7,
        "markerfacecolor": style.colour,
        "markerfacecoloralt": "white",
        "fillstyle": style.filling,
        "zorder": 3,
    }


def _paper_line(entry: Reference) -> dict[str, Any]:
    return {
        "color": _PAPER_GREY[entry.optimizer],
        "linestyle": line(entry.placement),
        "linewidth": 0.7,
        "zorder": 1,
    }


def _paper_marker(marker: str) -> dict[str, Any]:
    return {
        "color": "0.45",
        "linestyle": "none",
        "marker": marker,
        "markersize": 6.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
        "clip_on": False,
        "zorder": 5,
    }


def _paper_curves(references: Sequence[Reference]) -> dict[str, list[Reference]]:
    """The paper's numbers that were taken from its curves, by series."""
    grouped: dict[str, list[Reference]] = {}
    for entry in references:
        if entry.how_known in ("digitised", "read-off"):
            grouped.setdefault(entry.series, []).append(entry)
    return grouped


def _paper_markers(references: Sequence[Reference]) -> dict[Reference, str]:
    """The markers of a figure's numbers from the paper's text."""
    points = [entry for entry in dict.fromkeys(references) if entry.how_known in ("printed", "stated")]
    return {entry: _POINTS[i % len(_POINTS)] for i, entry in enumerate(points)}


def _divergence(diverged: pd.DataFrame, members: int) -> str:
    """When the seeds of a curve diverged."""
    updates = ", ".join(f"{update:.0f}" for update in sorted(diverged["diverged_update"]))
    text = f"diverged at update{'s' if len(diverged) > 1 else ''} {updates}"
    if (diverged["diverged_epoch"] == 1).all():
        text += " in epoch 1"
    return text if members == 1 else f"{len(diverged)} of {members} {text}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, width=66)


def _note(study: Study, panels: Sequence[Panel], records: Records) -> str:
    """The line below a figure: where its curves come from and how many of its runs they are."""
    runs = dict.fromkeys(run for panel in panels for run in panel.runs)
    corpora = ", ".join(dict.fromkeys(run.settings.corpus for run in runs))
    diverged = int((records.summary["status"] == "diverged").sum())
    origin = f"Study {study.study}, corpus {corpora}" if corpora else f"Study {study.study}"
    parts = [f"{origin}: {len(records.summary)} of {len(runs)} runs"]
    if diverged:
        parts[0] += f", {diverged} diverged (×)"
    if any(_ceiling(panel, study, _recorded(panel, records)) is not None for panel in panels):
        parts.append("Losses are cut off at a uniform guess, log$_2$ of the vocabulary")
    references = [entry for panel in panels for entry in panel.references]
    if references:
        parts.append(_of_the_paper(study, references, list(runs)))
    if any(len(members) > 1 for members in by_series(list(runs)).values()):
        parts.append("Lines: mean of the n seeds that finished; bands: lowest to highest")
    return ". ".join(parts) + "."


def _of_the_paper(study: Study, references: Sequence[Reference], runs: Sequence[Run]) -> str:
    """What the grey curves and marks are, where they are placed, and how the curves are known."""
    text = "Grey: the paper's" if study.paper_settings else "Grey: the paper's, at its own settings"
    curves = [entry for curve in _paper_curves(references).values() for entry in curve]
    for quantity in dict.fromkeys(entry.quantity for entry in curves):
        mine = [entry for entry in curves if entry.quantity == quantity]
        how = " or ".join(sorted({entry.how_known for entry in mine}))
        errors = sorted({entry.error for entry in mine if entry.error is not None})
        within = f", ±{'–'.join(f'{error:g}' for error in errors)}" if errors else ""
        text += f"; its {_QUANTITIES[quantity]} curves {how}{within}"
    sizes = sorted({run.settings.batch_tokens * run.settings.accumulate for run in runs})
    ours = "" if sizes == [paper.BATCH_TOKENS] else f" (here of {' or '.join(f'{size:,}' for size in sizes)})"
    return f"{text}; at {paper.UPDATES_AN_EPOCH:,} updates an epoch, each of {paper.BATCH_TOKENS:,} tokens{ours}"
