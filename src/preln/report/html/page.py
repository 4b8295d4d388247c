"""The page: the verdicts first, then each figure and table, what it cost, where it comes from, and what deviates."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import altair
import pandas as pd
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from preln import recording
from preln.config import Study
from preln.files import write_text
from preln.report import products
from preln.report.claims import ledger
from preln.report.claims.rules import Verdict
from preln.report.html import charts, content
from preln.report.html.charts import Chart
from preln.report.html.content import Content
from preln.report.pretraining import tables as pretraining_tables
from preln.report.reference import claims as paper
from preln.report.theory import tables as theory_tables
from preln.report.translation import records, tables
from preln.runs import Run
from preln.theory.measurement_jobs import MeasurementJob

FIGURES = {
    "2": "Is warm-up essential? Post-LN by Adam and by SGD (section 3.2)",
    "3": "Gradients of the decoder's feed-forward sub-layers at initialisation (section 3.4)",
    "4": "Pre-LN without warm-up beside Post-LN with it (section 4.1)",
    "5": "BERT: pre-training, and fine-tuning on the way (section 4.2)",
    "6": "Post-LN at a small rate, without warm-up (appendix H)",
    "theory": "The lemmas, theorem 1 and appendix F beside what was measured",
    "gradients": "The expected gradients of every matrix, by layer",
}
"""The figures in the order of the page, with what each asks."""
VEGA_LITE = altair.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
"""The version that the charts are written for."""
SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.NOT_REPRODUCED: "✗",
    Verdict.IN_PART: "±",
    Verdict.INCONCLUSIVE: "~",
    Verdict.NOT_TESTED: "·",
}
"""What stands before a verdict, for colour alone tells not everyone."""


@dataclass(frozen=True)
class Figure:
    """One of the figures: the image, and charts that show the same where there are any."""

    name: str
    title: str
    image: str
    charts: list[Chart]


@dataclass(frozen=True)
class Table:
    """A table with what stands below it."""

    title: str
    rows: pd.DataFrame
    notes: list[str]


def write(study: Study, runs: Sequence[Run], parts: Sequence[MeasurementJob], results: Path, out: Path) -> None:
    """Write the report of a study.

    Args:
        study: the study.
        runs: all runs of the study.
        parts: all parts of its theory.
        results: folder of the results of all studies; figures are taken from there, and one that is not drawn is left
            out.
        out: the file to write.

    Raises:
        RecordError: if a record cannot be used.
    """
    shown = content.load(study, runs, parts, results)
    environment = Environment(
        loader=PackageLoader("preln.report.html", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    entries = ledger.judge(study, results)
    text = environment.get_template("page.html.j2").render(
        study=study,
        summary=ledger.summary(entries),
        entries=entries,
        note=ledger.NOTE,
        signs=SIGNS,
        figures=_figures(shown),
        tables=_tables(shown),
        cost=_cost(shown),
        provenance=_provenance(shown),
        errata=paper.load().errata,
        style=Markup(_read("page.css")),
        script=Markup(_read("page.js")),
        vega=Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)),
    )
    write_text(out, text)


def _figures(shown: Content) -> list[Figure]:
    found = []
    theirs = products.figures(shown.study, shown.runs)
    for name, title in FIGURES.items():
        image = shown.results / shown.study.study / "figures" / f"figure-{name}.png"
        if name in theirs and image.exists():
            encoded = base64.b64encode(image.read_bytes()).decode("ascii")
            found.append(Figure(name, title, encoded, charts.of_figure(name, shown)))
    return found


def _tables(shown: Content) -> list[Table]:
    study, runs, bert, theory = shown.study, shown.runs, shown.bert, shown.theory
    found = []
    if runs:
        full = tables.full(study, runs, shown.done)
        found.append(Table("The translation runs", tables.readable(runs, full), tables.notes(full)))
    if study.pretraining:
        for name, (make, readable, notes_of) in pretraining_tables.TABLES.items():
            rows = readable(make(study, bert))
            found.append(Table(f"BERT: {name}", rows, [bert.progress, *notes_of(study, bert), *bert.origin]))
    if study.theory:
        for name, title in (("theory", "The theory"), ("figure-3", "Figure 3 in numbers")):
            rows = theory_tables.readable(theory_tables.TABLES[name](theory))
            found.append(Table(title, rows, [theory.progress, theory_tables.NOTES[name], *theory.origin]))
    return [table for table in found if len(table.rows)]


def _cost(shown: Content) -> list[str]:
    """How long the trainings took, in a sentence for each kind."""
    done, bert = shown.done, shown.bert
    found = []
    if len(done):
        hours, speed = done["seconds"].sum() / 3600, done["tokens_per_second"].median()
        found.append(
            f"{len(done)} translation runs: {hours:.1f} hours of training, {speed:,.0f} target tokens a second in the "
            "median."
        )
    if len(bert.curves):
        hours = bert.curves["seconds"].sum() / 3600
        speed = bert.curves["tokens_per_second"].median()
        found.append(
            f"{len(bert.metrics)} pre-training runs: {hours:.1f} hours, {speed:,.0f} tokens a second in the median."
        )
    if len(bert.scores):
        folders = [shown.results / shown.study.study / "finetuning" / job for job in sorted(bert.done)]
        hours = sum(recording.read(folder / "run.json")["seconds"] for folder in folders) / 3600
        found.append(f"{len(bert.scores)} fine-tunings: {hours:.1f} hours.")
    return found


def _provenance(shown: Content) -> dict[str, list[str]]:
    """What the records were made with: each commit, machine and set of versions, with how many records it made."""
    counts: dict[str, Counter[str]] = {"Commit": Counter(), "Hardware": Counter(), "Versions": Counter()}
    for folder in shown.folders():
        record = recording.read(folder / "run.json")
        changed = ", with changes that are not committed" if record["commit_changed"] else ""
        counts["Commit"][f"{record['commit']}{changed}"] += 1
        counts["Hardware"][records.hardware_line(record["hardware"])] += 1
        counts["Versions"][", ".join(f"{name} {version}" for name, version in record["versions"].items())] += 1
    return {
        what: [f"{text} ({n} {'record' if n == 1 else 'records'})" for text, n in found.items()]
        for what, found in counts.items()
        if found
    }


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
