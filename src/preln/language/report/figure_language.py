"""The figure of a study's language models."""

from __future__ import annotations

from preln.language.report.records import SOURCE, Records
from preln.language.runs import LanguageRun
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, legible
from preln.report.core.figure import Figure

AXIS = "Loss (bits/token)"


def _panels(records: Records) -> list[list[Panel]]:
    """A panel for each text, and its kind of tokens, that has a run that is done."""

    def baseline(runs: list[LanguageRun]) -> tuple[float, str]:
        known = [records.metrics[run.id]["unigram_baseline"] for run in runs if run.id in records.metrics]
        return max(known), "unigram baseline"

    return records.panels(AXIS, lambda run: f"{run.settings.text} ({run.settings.tokens})", baseline)


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
