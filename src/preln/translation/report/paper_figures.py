"""Figures 2, 4 and 6: the study's runs, with the paper's curves and numbers in grey behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from string import ascii_lowercase
from typing import Any

from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.placements import PLACEMENTS
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, Reference, shared
from preln.report.core.entries import Figure
from preln.report.core.labels import names, text_name
from preln.report.reference import translation as paper
from preln.report.reference.translation import Quantity
from preln.translation.report.curves import COLUMNS, TITLES, looks_of, panel, progress_of
from preln.translation.report.records import SOURCE, Records
from preln.translation.runs import Run

_QUANTITIES = {"valid_loss": "loss", "bleu": "BLEU"}
_PAPER_GREY = {"adam": "0.45", "radam": "0.7", "sgd": "0.45"}
_POINTS = "*Ppdh"
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
    """The particulars of one of the paper's figures: its panels by row and column, from its runs; whether each column
    has a legend, or all have one; and the settings that its labels name even where a study has one value of
    them alone."""

    number: int
    parts: Callable[[Sequence[Run]], list[list[Part]]]
    legend_by_column: bool = False
    always: frozenset[str] = frozenset()

    def figure(self, title: str, caption: str) -> Figure[Records]:
        """The figure as the catalogue has it."""
        return curve_figure.figure(
            self._drawn,
            legend_by_column=self.legend_by_column,
            name=str(self.number),
            title=title,
            caption=caption,
            source=SOURCE,
            of=lambda study, runs: [run for run in runs if self.number in run.figures],
        )

    def _drawn(self, study: Study, records: Records) -> tuple[list[list[Panel]], str]:
        looks, markers, named = looks_of(study), cycle(_POINTS), self._names(records)
        grid: list[list[Panel]] = []
        numbers: list[paper.Reference] = []
        for row in self.parts(records.runs):
            grid.append([])
            for part, (labels, _) in zip(row, named, strict=True):
                of_part = self._numbers(study, records, part)
                numbers += of_part
                references = _references(of_part, markers)
                grid[-1].append(panel(part.title, part.quantity, records, part.runs, labels, looks, references))
        return grid, _note(study, records, dict.fromkeys(text for _, text in named), numbers)

    def _names(self, records: Records) -> list[tuple[dict[RunSettings, str], str]]:
        """For each column the names of its curves, and what most of them share; columns of one legend have one
        naming."""
        settings = [series(run.settings) for run in records.runs]
        columns = [
            [series(run.settings) for part in column for run in part.runs]
            for column in zip(*self.parts(records.runs), strict=True)
        ]
        return [names((self.legend_by_column and column) or settings, self.always) for column in columns]

    def _numbers(self, study: Study, records: Records, part: Part) -> list[paper.Reference]:
        """The paper's numbers for a panel with a run that is done, where the study repeats the paper on its corpus."""
        done = set(records.summary["run"]).intersection(run.id for run in part.runs)
        corpora = {study.corpora[run.settings.corpus].source for run in part.runs}
        if not done or "iwslt14" not in corpora or not (study.paper_settings or study.paper_curves):
            return []
        place = (self.number, part.letter, part.quantity)
        return [number for number in paper.load() if (number.figure, number.panel, number.quantity) == place]


def _note(study: Study, records: Records, common: Iterable[str], numbers: Sequence[paper.Reference]) -> str:
    """How much is done; what most curves share; and what the grey curves and marks are, where they are placed, and
    how the curves are known."""
    sentences = [progress_of(study, records), *map(shared, common)]
    if numbers:
        text = "Grey: the paper's" if study.paper_settings else "Grey: the paper's, at its own settings"
        drawn = [number for number in numbers if number.how_known in _OF_THE_PLOT]
        for quantity in dict.fromkeys(number.quantity for number in drawn):
            same = [number for number in drawn if number.quantity == quantity]
            how = " or ".join(sorted({number.how_known for number in same}))
            errors = sorted({number.error for number in same if number.error is not None})
            within = f", ±{'–'.join(f'{error:g}' for error in errors)}" if errors else ""
            text += f"; its {_QUANTITIES[quantity]} curves {how}{within}"
        sizes = sorted({run.settings.tokens_an_update for run in records.runs})
        own_sizes = "" if sizes == [paper.BATCH_TOKENS] else f" (here of {' or '.join(f'{size:,}' for size in sizes)})"
        updates, tokens = paper.UPDATES_AN_EPOCH, paper.BATCH_TOKENS
        sentences.append(f"{text}; at {updates:,} updates an epoch, each of {tokens:,} tokens{own_sizes}.")
    return " ".join(filter(None, sentences))


def _references(numbers: Sequence[paper.Reference], markers: Iterator[str]) -> list[Reference]:
    """The paper's curves and single values, in grey; words without a value are in the legend alone."""
    by_series: dict[str, list[paper.Reference]] = {}
    for number in numbers:
        if number.how_known in _OF_THE_PLOT:
            by_series.setdefault(number.series, []).append(number)
    references = []
    for name, drawn in by_series.items():
        points = tuple((number.update, number.y) for number in drawn if number.y is not None)
        grey, dashes = _PAPER_GREY[drawn[0].optimizer], PLACEMENTS[drawn[0].placement].line
        curve = {"color": grey, "linestyle": dashes, "linewidth": 0.7, "zorder": 1}
        references.append(Reference(f"paper: {name}", points, curve))
    for number in numbers:
        if number.how_known in _OF_THE_PLOT:
            continue
        text = f"paper: {number.series}: {number.statement} ({number.how_known})"
        mark: dict[str, Any] = {
            "color": "0.45",
            "linestyle": "none",
            "marker": next(markers) if number.y is not None else "none",
            "markersize": 6.5,
            "markeredgecolor": "white",
            "markeredgewidth": 0.4,
            "clip_on": False,
            "zorder": 5,
        }
        references.append(Reference(text, ((number.update, number.y),) if number.y is not None else (), mark))
    return references


def _by_optimizer(runs: Sequence[Run]) -> list[list[Part]]:
    """A column for each optimizer; validation loss above BLEU."""
    columns = [("(a) Adam", ("adam", "radam"), "a"), ("(b) SGD", ("sgd",), "b")]
    return [
        [
            Part(title, quantity, tuple(run for run in runs if run.settings.optimizer in optimizers), letter)
            for title, optimizers, letter in columns
        ]
        for quantity in COLUMNS
    ]


def _by_corpus(runs: Sequence[Run]) -> list[list[Part]]:
    """A row for each corpus: validation loss, and BLEU beside it."""
    letters = iter(ascii_lowercase)
    rows = []
    corpora = dict.fromkeys(run.settings.corpus for run in runs)
    for corpus in corpora:
        trained_on_it = tuple(run for run in runs if run.settings.corpus == corpus)
        of = f", {text_name(corpus)}" if len(corpora) > 1 else ""
        rows.append(
            [
                Part(f"({next(letters)}) {TITLES[quantity]}{of}", quantity, trained_on_it, letter)
                for quantity, letter in zip(COLUMNS, "ab", strict=True)
            ]
        )
    return rows


FIGURE_2 = Layout(2, _by_optimizer, legend_by_column=True).figure(
    title="Is warm-up essential? Post-LN by Adam and by SGD (section 3.2)",
    caption="Post-LN with and without warm-up, by (a) Adam and, where the study has it, (b) SGD: the validation loss "
    "above, and BLEU on test below, after each epoch, over updates. Several seeds are a mean line, with a band "
    "from the lowest to the highest. A cross ends a run that diverged. Losses far above the unigram baseline "
    "are drawn at the upper edge.\n\n"
    "The paper (section 3.2) states for Adam a BLEU of only 8.45 without warm-up and around 34 with it. For a "
    "warm-up of 500 updates it states 31.16 at peak rate 5e-4, and 2.77 at 1e-3. For SGD without warm-up it "
    "states a BLEU just above zero. It does not say where the decay begins without warm-up, so there may be "
    "several such curves.",
)

# The figure compares placements and optimizers, so its labels name both.
FIGURE_4 = Layout(4, _by_corpus, always=frozenset({"placement", "optimizer"})).figure(
    title="Pre-LN without warm-up beside Post-LN with it (section 4.1)",
    caption="Pre-LN without warm-up and Post-LN with it, by Adam and, where the study has it, RAdam: the validation "
    "loss on the left, and BLEU on test on the right, after each epoch, over updates; a row for each text. "
    "Unbroken lines are Post-LN, and dashed lines Pre-LN. Several seeds are a mean line, with a band from the "
    "lowest to the highest. A cross ends a run that diverged. Grey lines, where there are any, are the "
    "paper's, with 1,100 updates an epoch.\n\n"
    "The paper (section 4) states that Pre-LN without warm-up reaches a BLEU around 34 and a validation loss "
    "around 4, comparable to Post-LN with warm-up; that its 9th checkpoint is as good as the 15th of Post-LN; and "
    "that RAdam helps Post-LN but makes little difference for Pre-LN. In the paper the two also differ in "
    "schedule: Pre-LN has a constant rate that drops at the 8th epoch, and Post-LN an inverse square root.",
)

FIGURE_6 = Layout(6, lambda runs: [[Part("", "valid_loss", tuple(runs))]]).figure(
    title="Post-LN at a small rate, without warm-up (appendix H)",
    caption="Post-LN, trained by Adam at a small fixed rate without warm-up, and at the large rate with warm-up and "
    "without it: the validation loss after each epoch, over updates. Several seeds are a mean line, with a band from "
    "the lowest to the highest. A cross ends a run that diverged.\n\n"
    "The paper (appendix H) states that the fixed rate 1e-4 reaches a validation loss around 4.3 in 27 "
    "epochs. That is much lower than the large rate without warm-up, and still worse than the large rate "
    "with it.",
)
