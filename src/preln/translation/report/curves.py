"""The curves of translation runs, and the paper's beside them, as the curve figure draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, Reference, TrainedRun, curves_of, progress, shared
from preln.report.core.curves import Curves
from preln.report.core.labels import names
from preln.report.core.style import Style, line, styles
from preln.report.reference import translation as paper
from preln.report.reference.translation import Quantity
from preln.translation.report.records import Records
from preln.translation.runs import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS: dict[Quantity, str] = {"valid_loss": "valid_loss", "bleu": "test_bleu"}
AXES = {"valid_loss": "Validation loss (bits/token)", "bleu": "Test BLEU"}
_QUANTITIES = {"valid_loss": "loss", "bleu": "BLEU"}
_PAPER_GREY = {"adam": "0.45", "radam": "0.7", "sgd": "0.45"}
_POINTS = ["*", "P", "p", "d", "h"]
_OF_THE_PLOT = ("digitised", "read-off")


@dataclass(frozen=True)
class Part:
    """A panel of one of the paper's figures: its title, its quantity, its runs, and its letter in the paper."""

    title: str
    quantity: Quantity
    runs: tuple[Run, ...]
    letter: str = ""


@dataclass(frozen=True)
class Layout:
    """What is particular to one of the paper's figures.

    Attributes:
        number: the figure's.
        parts: gives, of the study and the figure's runs, the panels by row and column.
        legend_by_column: a legend under each column in place of one under all.
        always: settings that its labels name even where a study has but one value of them.
    """

    number: int
    parts: Callable[[Study, Sequence[Run]], list[list[Part]]]
    legend_by_column: bool = False
    always: frozenset[str] = frozenset()


def in_figure(number: int) -> Callable[[Study, Sequence[Run]], list[Run]]:
    """Which runs one of the paper's figures shows: those whose settings name it."""
    return lambda study, runs: [run for run in runs if number in run.figures]


def trained(records: Records, runs: Sequence[Run]) -> list[TrainedRun]:
    """Runs as the curve figure draws them."""
    done = records.summary.set_index("run")
    points = {str(name): table for name, table in records.curves.groupby("run")}
    found = []
    for run in runs:
        diverged = run.id in done.index and done.status[run.id] == "diverged"
        curve = points.get(run.id, records.curves.iloc[:0]) if run.id in done.index else None
        found.append(TrainedRun(run.settings, curve, int(done.diverged_update[run.id]) if diverged else None))
    return found


def baseline(records: Records, runs: Sequence[Run]) -> tuple[float, str]:
    """The loss above which nothing was learned: of a model that knows how frequent each token is, or where a record is
    without it, of a uniform guess."""
    mine = records.summary[records.summary["run"].isin([run.id for run in runs])]
    unigram = mine["constant_guess"].dropna().astype(float)
    if len(unigram):
        return float(unigram.max()), "unigram baseline"
    return max(math.log2(run.corpus.vocabulary) for run in runs), "uniform guess"


def panel(
    title: str,
    quantity: Quantity,
    records: Records,
    runs: Sequence[Run],
    called: dict[RunSettings, str],
    looks: dict[Any, dict[str, Any]],
    references: Sequence[Reference] = (),
) -> Panel:
    """A quantity of some runs over updates."""
    return Panel(
        title=title,
        y_title=AXES[quantity],
        curves=curves_of(trained(records, runs), COLUMNS[quantity], called, looks),
        references=tuple(references),
        baseline=baseline(records, runs) if runs and quantity == "valid_loss" else None,
        is_score=quantity == "bleu",
    )


def look(style: Style) -> dict[str, Any]:
    """A style in the terms of `Axes.plot`."""
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
    }


def compose(layout: Layout, study: Study, records: Records) -> Figure:
    """One of the paper's figures; `records` are those of its runs."""
    grid = _panels(layout, study, records)
    common = dict.fromkeys(text for _, text in _names(layout, study, records).values())
    corpora = [run.settings.corpus for run in records.runs]
    note = [progress(study.study, corpora, trained(records, records.runs)), *map(shared, common)]
    if any(reference for row in grid for one in row for reference in one.references):
        note.append(_of_the_paper(study, layout, records.runs))
    return curve_figure.compose(grid, " ".join(filter(None, note)), legend_by_column=layout.legend_by_column)


def curves(layout: Layout, study: Study, records: Records) -> list[Curves]:
    """The figure as numbers, the paper's with them."""
    return curve_figure.curves(_panels(layout, study, records))


def _panels(layout: Layout, study: Study, records: Records) -> list[list[Panel]]:
    """The panels of a figure; one none of whose runs is done has nothing of the paper's either."""
    called = _names(layout, study, records)
    looks = {settings: look(style) for settings, style in styles(records.runs).items()}
    done = set(records.summary["run"])
    markers = iter(_POINTS * 4)
    grid: list[list[Panel]] = []
    for row in layout.parts(study, records.runs):
        grid.append([])
        for column, part in enumerate(row):
            known = any(run.id in done for run in part.runs)
            references = _references(_numbers(layout.number, study, part), markers) if known else []
            grid[-1].append(panel(part.title, part.quantity, records, part.runs, called[column][0], looks, references))
    return grid


def _names(layout: Layout, study: Study, records: Records) -> dict[int, tuple[dict[RunSettings, str], str]]:
    """For each column the names of its curves, and what most of them share; columns of one legend have one naming."""
    every = [series(run.settings) for run in records.runs]
    found = {}
    for number, column in enumerate(zip(*layout.parts(study, records.runs), strict=True)):
        own = [series(run.settings) for part in column for run in part.runs]
        found[number] = names((layout.legend_by_column and own) or every, layout.always)
    return found


def _numbers(number: int, study: Study, part: Part) -> list[paper.Reference]:
    """The paper's numbers for a panel, where the study repeats the paper on the paper's corpus."""
    of_the_paper = study.paper_settings or study.paper_curves
    comparable = of_the_paper and any(study.corpora[run.settings.corpus].source == "iwslt14" for run in part.runs)
    key = (number, part.letter, part.quantity)
    return [one for one in paper.load() if comparable and (one.figure, one.panel, one.quantity) == key]


def _references(numbers: Sequence[paper.Reference], markers: Any) -> list[Reference]:
    """The paper's curves and single values, in grey; words without a value are in the legend alone."""
    by_series: dict[str, list[paper.Reference]] = {}
    for number in numbers:
        if number.how_known in _OF_THE_PLOT:
            by_series.setdefault(number.series, []).append(number)
    found = [
        Reference(
            f"paper: {name}",
            tuple((one.update, one.y) for one in drawn if one.y is not None),
            {
                "color": _PAPER_GREY[drawn[0].optimizer],
                "linestyle": line(drawn[0].placement),
                "linewidth": 0.7,
                "zorder": 1,
            },
        )
        for name, drawn in by_series.items()
    ]
    for number in numbers:
        if number.how_known in _OF_THE_PLOT:
            continue
        text = f"paper: {number.series}: {number.statement} ({number.how_known})"
        mark = {
            "color": "0.45",
            "linestyle": "none",
            "marker": next(markers) if number.y is not None else "none",
            "markersize": 6.5,
            "markeredgecolor": "white",
            "markeredgewidth": 0.4,
            "clip_on": False,
            "zorder": 5,
        }
        found.append(Reference(text, ((number.update, number.y),) if number.y is not None else (), mark))
    return found


def _of_the_paper(study: Study, layout: Layout, runs: Sequence[Run]) -> str:
    """What the grey curves and marks are, where they are placed, and how the curves are known."""
    text = "Grey: the paper's" if study.paper_settings else "Grey: the paper's, at its own settings"
    shown = [one for row in layout.parts(study, runs) for part in row for one in _numbers(layout.number, study, part)]
    drawn = [one for one in shown if one.how_known in _OF_THE_PLOT]
    for quantity in dict.fromkeys(one.quantity for one in drawn):
        mine = [one for one in drawn if one.quantity == quantity]
        how = " or ".join(sorted({one.how_known for one in mine}))
        errors = sorted({one.error for one in mine if one.error is not None})
        within = f", ±{'–'.join(f'{error:g}' for error in errors)}" if errors else ""
        text += f"; its {_QUANTITIES[quantity]} curves {how}{within}"
    sizes = sorted({run.settings.batch_tokens * run.settings.accumulate for run in runs})
    ours = "" if sizes == [paper.BATCH_TOKENS] else f" (here of {' or '.join(f'{size:,}' for size in sizes)})"
    return f"{text}; at {paper.UPDATES_AN_EPOCH:,} updates an epoch, each of {paper.BATCH_TOKENS:,} tokens{ours}."
