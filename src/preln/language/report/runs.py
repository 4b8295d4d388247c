"""The language models of a study as a figure and a table."""

from __future__ import annotations

from preln import schedules
from preln.config import Study
from preln.language.report.records import SOURCE, Records
from preln.language.runs import LanguageRun
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, legible
from preln.report.core.entries import Table
from preln.report.core.forms import Content, rounded

_ALWAYS = ("placement", "optimizer", "learning_rate", "warmup", "updates", "seed")
_LEFT_OUT = {*_ALWAYS, *schedules.SETTINGS, "text"}
"""The settings without a column of their own for readers: the id of a run has those of its schedule."""
_BASELINE = "unigram_baseline"


def _drawn(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    """A panel for each text, and its kind of tokens, that has a run that is done."""

    def baseline(runs: list[LanguageRun]) -> tuple[float, str]:
        known = [records.metrics[run.id][_BASELINE] for run in runs if run.id in records.metrics]
        return max(known), "unigram baseline"

    axis = "Loss (bits/token)"
    return records.drawn(study, axis, lambda run: f"{run.settings.text} ({run.settings.tokens})", baseline)


def make(study: Study, records: Records) -> Content:
    """The table of the language models."""
    table = records.table(_ALWAYS, lambda run, _: {_BASELINE: records.metrics[run.id][_BASELINE]})
    text = records.readable(table, _LEFT_OUT, lambda row: {"Unigram baseline": rounded(row[_BASELINE], 3)})
    note = (
        "Losses are in bits a token. The unigram baseline is the loss of a model that knows only each token's "
        "frequency in the training text."
    )
    return Content(table, text, records.progress, [note, *records.origin])


TABLE = Table(
    name="language",
    title="Language models",
    caption="A row for each language model that is done: how it ended, its losses in bits a token, and the loss of the "
    "unigram baseline on the same text.",
    source=SOURCE,
    make=make,
    computed=("tokens_per_second",),
)
FIGURE = curve_figure.figure(
    _drawn,
    name="language",
    title="The study's language models",
    caption="Every language model of the study: its validation loss, by update. The line tells the placement. Several "
    "seeds are a mean line, with a band from the lowest to the highest. A run that diverged is a thin line, and a "
    "cross on the edge at the update at which it did. Losses far above the unigram baseline, that of a model that "
    "knows only each token's frequency, are drawn at the upper edge.",
    source=SOURCE,
    of=legible,
)
