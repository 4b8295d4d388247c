"""The report: one page that needs no network. The finding and its picture come first, then the claims with their
verdicts, then each figure and table, what it cost, where it comes from, and what deviates from the paper. Of a study
that tests no claim, it begins with the figures and tables, and ends with a sentence about the paper."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import altair
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from preln.config import Study
from preln.jobs import notes
from preln.libraries import pd
from preln.pretraining.report import records as pretraining_records
from preln.questions.base import Verdict
from preln.questions.core import ledger
from preln.records import packed, recording
from preln.records.files import write_text
from preln.report.catalogue import LEADING, Catalogue
from preln.report.core.records import commit_name, hardware_line
from preln.report.html.charts import specification
from preln.report.reference import errata
from preln.translation.report import records as translation_records

VEGA_LITE = altair.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
"""The version that the charts are written for."""
SIGNS = {
    Verdict.HOLDS: "✓",
    Verdict.POINTS: "↗",
    Verdict.IN_PART: "±",
    Verdict.UNDECIDED: "~",
    Verdict.OPPOSES: "↘",
    Verdict.FAILS: "✗",
    Verdict.NOT_TESTABLE: "–",
    Verdict.NOT_TESTED: "·",
}
"""The sign before each verdict: not every reader can tell the colours apart."""


@dataclass(frozen=True)
class Chart:
    """One chart: its title, its Vega-Lite specification with the data in it, and what no curve shows."""

    title: str
    spec: dict[str, Any]
    note: str


@dataclass(frozen=True)
class Figure:
    """A figure: the image, and charts that show the same where there are any."""

    name: str
    heading: str
    caption: Sequence[str]
    image: str
    charts: list[Chart]


@dataclass(frozen=True)
class Table:
    """A table, with what stands above and below it."""

    title: str
    caption: str
    rows: pd.DataFrame
    notes: Sequence[str]


def write(study: Study, results: Path, out: Path) -> None:
    """Write the report of a study.

    Args:
        study: the study.
        results: folder of the results of all studies; figures are taken from there, and one that is not drawn is left
            out.
        out: the file to write.

    Raises:
        RecordError: if a record cannot be used.
    """
    catalogue = Catalogue(study)
    figures = _figures(catalogue, results)
    entries = ledger.judge(catalogue.load(ledger.CLAIMS_TABLE, results))
    tested = ledger.tested(entries)
    leading = next((figures[name] for name in LEADING if tested and name in figures), None)
    counts = Counter(entry.verdict for entry in ledger.counted(entries))
    environment = Environment(
        loader=PackageLoader("preln.report.html", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    text = environment.get_template("page.html.j2").render(
        study=study,
        finding=ledger.finding(entries),
        counts={verdict: counts[verdict] for verdict in Verdict if counts[verdict]},
        tested=tested,
        untested=ledger.untested(entries),
        claims=ledger.CLAIMS_TABLE,
        note=ledger.NOTE,
        signs=SIGNS,
        notes=notes.of_study(catalogue.everything, results / study.study),
        leading=leading,
        figures=figures.values(),
        tables=_tables(catalogue, results),
        cost=_cost(catalogue, results),
        provenance=_provenance(catalogue, results / study.study),
        errata=errata.load(),
        style=Markup(_read("page.css")),
        script=Markup(_read("page.js")),
        vega=Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)),
    )
    write_text(out, text)


def _figures(catalogue: Catalogue, results: Path) -> dict[str, Figure]:
    """The figures that are drawn, by name."""
    study, found = catalogue.study, {}
    for name, figure in catalogue.figures.items():
        image = results / study.study / f"figures/figure-{name}.png"
        if image.exists():
            encoded = base64.b64encode(image.read_bytes()).decode("ascii")
            curves = figure.curves(study, catalogue.load(figure, results))
            charts = [Chart(one.title, specification(one), one.note) for one in curves]
            found[name] = Figure(name, figure.heading, figure.caption.split("\n\n"), encoded, charts)
    return found


def _tables(catalogue: Catalogue, results: Path) -> list[Table]:
    """The tables that have rows, but for the ledger, which has a section of its own."""
    found = []
    for table in catalogue.tables.values():
        if table not in (ledger.CLAIMS_TABLE, ledger.FINDINGS_TABLE):
            made = table.make(catalogue.study, catalogue.load(table, results))
            found.append(Table(table.title, table.caption, made.text, [made.title, *made.notes]))
    return [table for table in found if len(table.rows)]


def _cost(catalogue: Catalogue, results: Path) -> list[str]:
    """How long the trainings took, in a sentence for each kind."""
    study = catalogue.study
    done = translation_records.summary(study, translation_records.SOURCE.jobs(study), results)
    bert = pretraining_records.load(study, pretraining_records.SOURCE.jobs(study), results)
    found = []
    if len(done):
        hours, speed = done["seconds"].sum() / 3600, done["tokens_per_second"].median()
        found.append(
            f"Translation runs: {len(done)}. They took {hours:.1f} hours of training, at {speed:,.0f} target tokens a "
            "second in the median."
        )
    if timed := translation_records.translating(study, translation_records.SOURCE.jobs(study), results):
        training, bleu = (sum(seconds) for seconds in zip(*timed, strict=True))
        found.append(
            f"Translating for BLEU took {bleu / (training + bleu):.1%} of the time of training and translating, in the "
            f"{len(timed)} {'run' if len(timed) == 1 else 'runs'} that recorded it."
        )
    if len(bert.curves):
        hours = bert.curves["seconds"].sum() / 3600
        speed = bert.curves["tokens_per_second"].median()
        found.append(
            f"Pre-training runs: {len(bert.metrics)}. They took {hours:.1f} hours, at {speed:,.0f} tokens a second in "
            "the median."
        )
    if len(bert.scores):
        folders = [results / study.study / "finetuning" / job for job in sorted(bert.done)]
        hours = sum(recording.read(folder / recording.RUN)["seconds"] for folder in folders) / 3600
        found.append(f"Fine-tunings: {len(bert.scores)}. They took {hours:.1f} hours.")
    return found


def _provenance(catalogue: Catalogue, folder: Path) -> dict[str, list[str]]:
    """What the records were made with: each commit, machine and set of versions, with how many records it made."""
    counts: dict[str, Counter[str]] = {"Commit": Counter(), "Hardware": Counter(), "Versions": Counter()}
    for job in catalogue.everything:
        paths = [folder / file for file in job.files]
        if not all(map(packed.exists, paths)):
            continue
        record = recording.read(paths[0])
        changed = ", with changes that are not committed" if record["commit_changed"] else ""
        counts["Commit"][f"{commit_name(record)}{changed}"] += 1
        counts["Hardware"][hardware_line(record["hardware"])] += 1
        counts["Versions"][", ".join(f"{name} {version}" for name, version in record["versions"].items())] += 1
    return {
        what: [f"{text} ({n} {'record' if n == 1 else 'records'})" for text, n in found.items()]
        for what, found in counts.items()
        if found
    }


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
