"""The figure of a study's language models."""

from __future__ import annotations

from preln.jobs.grid import series
from preln.language.report.records import SOURCE, Records
from preln.language.runs import LanguageRun
from preln.report.core import curve_figure, looks
from preln.report.core.curve_figure import Panel, curves_of, legible
from preln.report.core.figure import Figure
from preln.report.core.labels import names
from preln.report.core.validated import ALWAYS

AXIS = "Loss (bits/token)"


def _panels(records: Records) -> list[list[Panel]]:
    """A panel for each text, and its kind of tokens, that has a run that is done."""
    settings = [series(run.settings) for run in records.runs]
    called, _ = names(settings, ALWAYS)
    look = looks.of_runs(settings)
    texts = dict.fromkeys(_text(run) for run in records.runs if run.id in records.metrics)
    rows = []
    for text in texts:
        runs = [run for run in records.runs if _text(run) == text]
        title = f"Validation loss, {text[0]} ({text[1]})" if len(texts) > 1 else "Validation loss"
        baseline = max(records.metrics[run.id]["unigram_baseline"] for run in runs if run.id in records.metrics)
        shown = curves_of([records.trained(run) for run in runs], "valid_loss", called, look)
        rows.append([Panel(title, AXIS, shown, baseline=(baseline, "unigram baseline"))])
    return rows


def _text(run: LanguageRun) -> tuple[str, str]:
    return run.settings.text, run.settings.tokens


FIGURE = Figure(
    name="language",
    title="The study's language models",
    caption="Every language model of the study: its validation loss, by update. The line tells the placement. Several "
    "seeds are a mean line, with a band from the lowest to the highest. A run that diverged is a thin line, and a "
    "cross on the edge at the update at which it did. Losses far above the unigram baseline, that of a model that "
    "knows only each token's frequency, are drawn at the upper edge.",
    source=SOURCE,
    of=legible,
    compose=lambda study, records: curve_figure.compose(_panels(records), records.note(study)),
    curves=lambda study, records: curve_figure.curves(_panels(records)),
)
