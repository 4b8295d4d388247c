"""Language models as a table."""

from __future__ import annotations

from preln import schedules
from preln.config import Study
from preln.language.report.records import SOURCE, Records
from preln.report.core.forms import Content, rounded
from preln.report.core.table import Table

_ALWAYS = ("placement", "optimizer", "learning_rate", "warmup", "updates", "seed")
_LEFT_OUT = {*_ALWAYS, *schedules.SETTINGS, "text"}
"""The settings without a column of their own for readers: the id of a run has those of its schedule."""
_BASELINE = "unigram_baseline"


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
