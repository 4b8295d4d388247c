"""The report: one page that needs no network. The finding and its picture come first, then the claims with their
verdicts, then each figure and table, what it cost, where it comes from, and what deviates from the paper. Of a study
that tests no claim, it begins with the figures and tables, and ends with a sentence about the paper."""

from __future__ import annotations

import base64
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import altair
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from preln.config import Study
from preln.pretraining.report import records as pretraining_records
from preln.questions.base import Verdict
from preln.questions.core import ledger
from preln.records import packed, recording
from preln.records.files import write_text
from preln.report.catalogue import LEADING, Catalogue
from preln.report.core.curves import Curves
from preln.report.core.figure import Figure
from preln.report.core.forms import Content
from preln.report.core.records import commit_name, hardware_line
from preln.report.core.table import Table
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


class Drawn(NamedTuple):
    """A figure with its PNG in base64, and charts that show the same, each with its Vega-Lite specification."""

    figure: Figure[Any]
    image: str
    charts: list[tuple[Curves, dict[str, Any]]]


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


def _figures(catalogue: Catalogue, results: Path) -> dict[str, Drawn]:
    """The figures that are drawn, by name."""
    study, drawn = catalogue.study, {}
    for name, figure in catalogue.figures.items():
        image = results / study.study / f"figures/figure-{name}.png"
        if image.exists():
            charts = [
                (curves, specification(curves)) for curves in figure.curves(study, catalogue.load(figure, results))
            ]
            drawn[name] = Drawn(figure, base64.b64encode(image.read_bytes()).decode("ascii"), charts)
    return drawn


def _tables(catalogue: Catalogue, results: Path) -> list[tuple[Table[Any], Content]]:
    """The tables that have rows, but for the ledger, which has a section of its own."""
    shown = [table for table in catalogue.tables.values() if table not in (ledger.CLAIMS_TABLE, ledger.FINDINGS_TABLE)]
    made = [(table, table.make(catalogue.study, catalogue.load(table, results))) for table in shown]
    return [(table, content) for table, content in made if len(content.text)]


def _cost(catalogue: Catalogue, results: Path) -> list[str]:
    """The time that the trainings took, in a sentence for each kind."""
    study = catalogue.study
    runs = translation_records.SOURCE.jobs(study)
    done = translation_records.load(study, runs, results).summary
    bert = pretraining_records.load(study, pretraining_records.SOURCE.jobs(study), results)
    sentences = []
    if len(done):
        hours, speed = done["seconds"].sum() / 3600, done["tokens_per_second"].median()
        sentences.append(
            f"Translation runs: {len(done)}. They took {hours:.1f} hours of training, at {speed:,.0f} target tokens a "
            "second in the median."
        )
    if timed := translation_records.translating(study, runs, results):
        training, bleu = (sum(seconds) for seconds in zip(*timed, strict=True))
        sentences.append(
            f"Translating for BLEU took {bleu / (training + bleu):.1%} of the time of training and translating, in the "
            f"{len(timed)} {'run' if len(timed) == 1 else 'runs'} that recorded it."
        )
    if len(bert.curves):
        hours = bert.curves["seconds"].sum() / 3600
        speed = bert.curves["tokens_per_second"].median()
        sentences.append(
            f"Pre-training runs: {len(bert.metrics)}. They took {hours:.1f} hours, at {speed:,.0f} tokens a second in "
            "the median."
        )
    if len(bert.scores):
        folders = [results / study.study / "finetuning" / job for job in sorted(bert.done)]
        hours = sum(recording.read(folder / recording.RUN)["seconds"] for folder in folders) / 3600
        sentences.append(f"Fine-tunings: {len(bert.scores)}. They took {hours:.1f} hours.")
    return sentences


def _provenance(catalogue: Catalogue, folder: Path) -> dict[str, list[str]]:
    """The commits, machines and sets of versions of the records, each with how many records it made."""
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
        origin: [f"{text} ({n} {'record' if n == 1 else 'records'})" for text, n in texts.items()]
        for origin, texts in counts.items()
        if texts
    }


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
