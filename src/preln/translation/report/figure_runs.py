"""The figure of a study's own translation runs, whatever their settings."""

from __future__ import annotations

from preln.config import Study
from preln.jobs.grid import series
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, legible, progress, shared
from preln.report.core.figure import Figure
from preln.report.core.labels import names, text_name
from preln.translation.report.curves import COLUMNS, TITLES, looks_of, panel, trained
from preln.translation.report.records import SOURCE, Records


def panels(study: Study, records: Records) -> list[list[Panel]]:
    """A row for each corpus that has a run that is done; the loss, and BLEU where one has it."""
    settings = [series(run.settings) for run in records.runs]
    called, _ = names(settings, always={"placement"})
    looks = looks_of(study)
    corpora = dict.fromkeys(records.summary["corpus"])
    known = records.curves.notna().any()
    quantities = [name for name, column in COLUMNS.items() if name == "valid_loss" or known[column]]
    rows = []
    for corpus in corpora:
        runs = [run for run in records.runs if run.settings.corpus == corpus]
        titles = {
            name: f"{title}, {text_name(corpus)}" if len(corpora) > 1 else title for name, title in TITLES.items()
        }
        rows.append([panel(titles[name], name, records, runs, called, looks) for name in quantities])
    return rows


def note(study: Study, records: Records) -> str:
    """The note below the figure: how many runs are done, and what most of them share."""
    corpora = [run.settings.corpus for run in records.runs]
    _, common = names([series(run.settings) for run in records.runs], always={"placement"})
    return f"{progress(study.study, corpora, trained(records, records.runs))} {shared(common)}"


FIGURE = Figure(
    name="runs",
    title="The study's own translation runs",
    caption="Every translation run of the study: the validation loss, and BLEU on test, by update. The line tells the "
    "placement. Several seeds are a mean line, with a band from the lowest to the highest. A run that diverged is a "
    "thin line, and a cross on the edge at the update at which it did. Losses far above the unigram baseline are drawn "
    "at the upper edge. More than twelve curves have panels of their own.",
    source=SOURCE,
    of=legible,
    compose=lambda study, records: curve_figure.compose(panels(study, records), note(study, records)),
    curves=lambda study, records: curve_figure.curves(panels(study, records)),
)
