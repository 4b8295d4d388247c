"""The report: one page that needs no network. The finding with its picture, the text, the models and the machine come
first, then the claims with their verdicts, then each figure and table, what it cost, where it comes from, and what
deviates from the paper. Of a study that tests no claim, it begins with the figures and tables, and ends with a sentence
about the paper."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import altair
import vl_convert
from markupsafe import Markup
from PIL import Image

from preln.config import Study
from preln.corpora.languages import MOSES
from preln.jobs import notes
from preln.jobs.base import Job
from preln.libraries import pd
from preln.questions.base import Verdict
from preln.questions.core import ledger
from preln.questions.core.evidence import Recorded
from preln.records import packed, recording
from preln.records.files import write_text
from preln.report.catalogue import LEADING, Catalogue
from preln.report.core.curves import Curves
from preln.report.core.entries import Figure, Table
from preln.report.core.forms import MISSING, Content
from preln.report.core.labels import counted, text_name
from preln.report.core.records import commit_name, hardware_line, having
from preln.report.core.style import RC
from preln.report.core.validated import Validated
from preln.report.html.charts import Swatch, legend, specification
from preln.report.html.template import rendered
from preln.report.reference import errata
from preln.translation.report import finding
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
_MOST = 3
"""Values of a setting that a line names; of more it names the ends."""


class Chart(NamedTuple):
    """Curves to look into, with their Vega-Lite specification and their legend."""

    curves: Curves
    specification: dict[str, Any]
    legend: list[Swatch]


class Drawn(NamedTuple):
    """A figure with its PNG in base64, the width of that on paper in inches, and charts that show the same."""

    figure: Figure[Any]
    image: str
    inches: float
    charts: list[Chart]


def write(study: Study, results: Path, out: Path) -> None:
    """Write the report of a study to `out`. Figures are taken from `results`, the folder of the results of all studies;
    one that is not drawn is left out.

    Raises:
        RecordError: if a record cannot be used.
    """
    catalogue = Catalogue(study)
    figures = _figures(catalogue, results)
    evidence = catalogue.load(ledger.CLAIMS_TABLE, results)
    (recorded,) = evidence.studies
    entries = ledger.judge(evidence)
    tested = ledger.tested(entries)
    leading = next((figures.pop(name) for name in LEADING if tested and name in figures), None)
    figures = {name: drawn for name, drawn in figures.items() if not (leading and _shows(leading, drawn))}
    counts = Counter(entry.verdict for entry in ledger.counted(tested))
    tables = _tables(catalogue, results)
    records = _records(catalogue, results / study.study)
    provenance = _provenance(record for _, record in records)
    deviations = errata.of_study(study) if tested else []
    sections = {
        "claims": ledger.CLAIMS_TABLE.heading if tested else "",
        **{f"figure-{name}": drawn.figure.heading for name, drawn in figures.items()},
        "tables": "Tables" if tables else "",
        "cost": "What it cost",
        "provenance": "Where the numbers come from",
        "deviations": "Where the paper errs or is silent" if deviations else "",
        "paper": "" if tested else "The paper",
    }
    text = rendered(
        "page",
        study=study,
        found=finding.find(catalogue.load(finding.FIGURE, results)) if "finding" in catalogue.figures else None,
        question=finding.QUESTION,
        summary=ledger.finding(entries),
        counts={verdict: counts[verdict] for verdict in Verdict if counts[verdict]},
        tested=tested,
        untested=ledger.untested(entries),
        claims=ledger.CLAIMS_TABLE,
        not_compared=ledger.NOT_COMPARED,
        note=ledger.NOTE,
        signs=SIGNS,
        about={
            "Text": texts(records),
            "Model": models(recorded),
            "Machine": provenance.get("Hardware", []),
        },
        notes=notes.of_study(catalogue.everything, results / study.study),
        sections={name: heading for name, heading in sections.items() if heading},
        leading=leading,
        figures=figures.values(),
        tables=tables,
        cost=_cost(recorded),
        provenance=provenance,
        errata=deviations,
        vega=_vega(),
    )
    write_text(out, text)


@cache
def _vega() -> Markup:
    """The scripts of the charts."""
    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE))


def _figures(catalogue: Catalogue, results: Path) -> dict[str, Drawn]:
    study, drawn = catalogue.study, {}
    for name, figure in catalogue.figures.items():
        image = results / study.study / f"figures/figure-{name}.png"
        if image.exists():
            content = image.read_bytes()
            shown = figure.curves(study, catalogue.load(figure, results))
            charts = [Chart(curves, specification(curves), legend(curves)) for curves in shown]
            drawn[name] = Drawn(figure, base64.b64encode(content).decode("ascii"), _inches(content), charts)
    return drawn


def _shows(leading: Drawn, drawn: Drawn) -> bool:
    """True where the leading figure has every panel of a figure, by whatever names."""
    panels, leading_panels = ({_content(chart.curves) for chart in figure.charts} for figure in (drawn, leading))
    return bool(panels) and panels <= leading_panels


def _content(curves: Curves) -> tuple[str, str, str]:
    points = pd.concat([curves.table, curves.reference])[[curves.x, "value"]]
    return curves.x_title, curves.y_title, points.sort_values([curves.x, "value"]).to_csv(index=False)


def _inches(image: bytes) -> float:
    with Image.open(io.BytesIO(image)) as picture:
        return float(picture.width / RC["savefig.dpi"])


def _tables(catalogue: Catalogue, results: Path) -> list[tuple[Table[Any], Content]]:
    """The tables that have rows, but for the ledger, which has a section of its own."""
    shown = [table for table in catalogue.tables.values() if table not in (ledger.CLAIMS_TABLE, ledger.FINDINGS_TABLE)]
    made = [(table, table.make(catalogue.study, catalogue.load(table, results))) for table in shown]
    return [(table, content) for table, content in made if len(content.text)]


def _cost(recorded: Recorded) -> list[str]:
    """The time that the trainings took, in a sentence for each kind."""
    study, results, bert = recorded.study, recorded.results, recorded.bert
    runs, done = recorded.translation.runs, recorded.translation.summary
    sentences = []
    if len(done):
        hours, speed = done["seconds"].sum() / 3600, done["tokens_per_second"].median()
        sentences.append(
            f"Translation runs: {len(done)}. They took {hours:.1f} hours of training"
            + (f", at {speed:,.0f} target tokens a second in the median." if pd.notna(speed) else ".")
        )
    if timed := translation_records.translating(study, runs, results):
        training, bleu = (sum(seconds) for seconds in zip(*timed, strict=True))
        sentences.append(
            f"Translating for BLEU took {bleu / (training + bleu):.1%} of the time of training and translating, in the "
            f"{len(timed)} {'run' if len(timed) == 1 else 'runs'} that recorded it."
        )
    kinds: dict[str, Validated[Any]] = {"Pre-training runs": bert, "Language models": recorded.language}
    for what, trained in kinds.items():
        if len(trained.curves):
            hours, speed = trained.curves["seconds"].sum() / 3600, trained.curves["tokens_per_second"].median()
            sentences.append(
                f"{what}: {len(trained.metrics)}. They took {hours:.1f} hours, at {speed:,.0f} tokens a second in the "
                "median."
            )
    if len(bert.scores):
        folders = [results / study.study / "finetuning" / job for job in sorted(bert.done)]
        hours = sum(recording.read(folder / recording.RUN)["seconds"] for folder in folders) / 3600
        sentences.append(f"Fine-tunings: {len(bert.scores)}. They took {hours:.1f} hours.")
    return sentences


def _records(catalogue: Catalogue, folder: Path) -> list[tuple[Job, dict[str, Any]]]:
    return [
        (job, recording.read(folder / job.files[0]))
        for job in catalogue.everything
        if all(packed.exists(folder / file) for file in job.files)
    ]


def _provenance(records: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """The commits, machines and sets of versions of the records, each with how many records it made."""
    counts: dict[str, Counter[str]] = {"Commit": Counter(), "Hardware": Counter(), "Versions": Counter()}
    for record in records:
        changed = ", with changes that are not committed" if record["commit_changed"] else ""
        counts["Commit"][f"{commit_name(record)}{changed}"] += 1
        counts["Hardware"][hardware_line(record["hardware"])] += 1
        counts["Versions"][", ".join(f"{name} {version}" for name, version in record["versions"].items())] += 1
    return {
        origin: [f"{text} ({n} {'record' if n == 1 else 'records'})" for text, n in texts.items()]
        for origin, texts in counts.items()
        if texts
    }


def texts(records: Iterable[tuple[Job, dict[str, Any]]]) -> list[str]:
    """The texts of recorded runs, which are jobs with their run.json: languages, pairs or documents, files and
    vocabulary."""
    lines: dict[str, str] = {}
    for job, record in records:
        settings: Any = getattr(job, "settings", None)
        if corpus := record.get("corpus"):
            lines.setdefault(settings.corpus, f"{text_name(settings.corpus)}: {_pairs(corpus)}")
        elif text := record.get("text"):
            lines.setdefault(settings.text, f"{text_name(settings.text)}: {_documents(text)}")
    return list(lines.values())


def _pairs(corpus: dict[str, Any]) -> str:
    source, target = (MOSES.get(tag, tag) for tag in (corpus["languages"][side] for side in ("source", "target")))
    parts = ", ".join(f"{corpus['parts'][part]['pairs']:,} {part}" for part in ("train", "valid", "test"))
    settings = corpus["settings"]
    # A study beside results has the checksums of its files too.
    train = settings.get("train")
    files = f"{train['source']} and {train['target']}" if corpus["source"] == "files" else corpus["title"]
    return f"{source} to {target}, {parts} pairs ({files}), at most {settings['vocabulary']:,} BPE pieces."


def _documents(text: dict[str, Any]) -> str:
    train, settings = text["parts"]["train"], text["settings"]
    sources = [source.get("path") or source.get("folder") or source["source"] for source in settings["sources"]]
    return (
        f"{train['documents']:,} documents of {train['words']:,} words ({', '.join(map(text_name, sources))}), at most "
        f"{settings['vocabulary']:,} BPE pieces."
    )


def models(recorded: Recorded) -> list[str]:
    """The trained models of a study, a line a kind: layers, width, parameters, batch and updates."""
    lines, done = [], recorded.translation.summary
    if len(done):
        trained = set(done["run"])
        settings: list[Any] = [run.settings for run in recorded.translation.runs if run.id in trained]
        layers = [
            _values(getattr(setting, f"{stack}_layers") for setting in settings) for stack in ("encoder", "decoder")
        ]
        tokens = _values(setting.tokens_an_update for setting in settings)
        epochs = counted(_values(setting.epochs for setting in settings), "epoch")
        lines.append(
            f"Translation: {' + '.join(layers)} layers {_shape(settings, done['parameters'])}; batches of {tokens} "
            f"tokens, {_values(having(done, status='finished')['updates'])} updates in {epochs}."
        )
    validated: dict[str, Validated[Any]] = {"BERT": recorded.bert, "Language model": recorded.language}
    for name, records in validated.items():
        settings = [run.settings for run in records.runs if run.id in records.metrics]
        if settings:
            parameters = [metrics["parameters"] for metrics in records.metrics.values()]
            sequences = _values(setting.batch_sequences * setting.accumulate for setting in settings)
            lines.append(
                f"{name}: {_values(setting.layers for setting in settings)} layers {_shape(settings, parameters)}; "
                f"batches of {sequences} sequences of "
                f"{_values(setting.sequence_length for setting in settings)} tokens, "
                f"{_values(setting.updates for setting in settings)} updates."
            )
    return lines


def _shape(settings: list[Any], parameters: Iterable[Any]) -> str:
    width, inner, heads = (
        _values(getattr(setting, key) for setting in settings) for key in ("width", "ffn_width", "heads")
    )
    return f"of width {width} (feed-forward {inner}, {heads} heads), {_values(parameters)} parameters"


def _values(values: Iterable[Any]) -> str:
    """The values of a setting, ascending. A run that diverged in its first epoch has no parameters."""
    texts = [f"{value:,}" for value in sorted({value for value in values if pd.notna(value)})]
    return (" or ".join(texts) or MISSING) if len(texts) <= _MOST else f"{texts[0]} to {texts[-1]}"
