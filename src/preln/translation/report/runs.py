"""A study's own translation runs, whatever their settings, as a table and a figure.

The table's CSV has every setting that varies in the study, the values of the records as they stand there, and what is
computed from these to six digits. Its other forms are rounded for readers; notes below them say how BLEU was computed,
on which commit, and on what hardware.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from preln import schedules
from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, legible, shared
from preln.report.core.entries import Table
from preln.report.core.forms import MISSING, Content, rounded
from preln.report.core.labels import OPTIMIZERS, names, text_name, varying
from preln.report.reference import translation as paper
from preln.report.reference.translation import Quantity
from preln.translation.report.curves import COLUMNS, TITLES, looks_of, panel, progress_of
from preln.translation.report.records import SOURCE, SUMMARY, Records
from preln.translation.runs import Run
from preln.values import short

_ALWAYS = {"placement", "optimizer", "learning_rate", "schedule", "warmup", "seed"}
_PAPER = ["paper_bleu", "paper_valid_loss", "paper_statement"]
_COMPUTED = ("tokens_per_second",)


def full(study: Study, runs: Sequence[Run], done: pd.DataFrame) -> pd.DataFrame:
    """The table in full precision: the run, each setting that varies in the study, what the records say, and the
    paper's value where the paper gives one in its text for such a run. The columns depend on all `runs` of the study
    and not on what is `done`, which is the summary of the records."""
    differing = varying(run.settings for run in runs)
    settings = [key for key in RunSettings.model_fields if key in differing | _ALWAYS]
    by_id = {run.id: run for run in runs}
    paper = pd.DataFrame([_paper(study, by_id[run].settings) for run in done["run"]], columns=_PAPER, index=done.index)
    recorded = [name for name in SUMMARY if name in done]
    return pd.concat([done[["run", *settings, *recorded]], paper], axis="columns")


def readable(runs: Sequence[Run], table: pd.DataFrame) -> pd.DataFrame:
    """The full table rounded to text for readers; BLEU and chrF are those of the last epoch."""
    by_id = {run.id: run.settings for run in runs}
    differing = varying(by_id.values())
    further = [key for key in RunSettings.model_fields if key in differing - _ALWAYS - schedules.SETTINGS]
    rows = []
    for row in table.to_dict("records"):
        settings = by_id[row["run"]]
        diverged = row["status"] == "diverged"
        rows.append(
            {
                "Model": PLACEMENTS[settings.placement].label,
                "Optimizer": OPTIMIZERS[settings.optimizer],
                "Peak rate": short(settings.learning_rate),
                "Schedule": schedules.of(settings).label(),
                "Warm-up": str(settings.warmup) if settings.warmup > 1 else "none",
                **{key.replace("_", " ").capitalize(): _setting(getattr(settings, key)) for key in further},
                "Seed": str(settings.seed),
                "Updates": f"{row['updates']}",
                "Status": f"diverged at {row['diverged_update']}" if diverged else "finished",
                "Valid. loss": rounded(row["final_valid_loss"], 3),
                "Best loss": rounded(row["best_valid_loss"], 3),
                "Valid. BLEU": rounded(row["final_valid_bleu"], 2),
                "Test BLEU": rounded(row["final_test_bleu"], 2),
                "Test sacreBLEU": rounded(row["final_test_sacrebleu"], 2),
                **({"Test chrF": rounded(row["final_test_chrf"], 2)} if "final_test_chrf" in row else {}),
                "Tokens/s": rounded(row["tokens_per_second"], 0),
                "Time": str(datetime.timedelta(seconds=round(row["seconds"]))),
                "Paper": row["paper_statement"] if pd.notna(row["paper_statement"]) else "",
            }
        )
    text = pd.DataFrame(rows)
    # A study that is not the paper's has nothing in the column.
    return text if len(text) == 0 or (text["Paper"] != "").any() else text.drop(columns="Paper")


def title(study: Study, runs: Sequence[Run], table: pd.DataFrame) -> str:
    """The title: the study, and how many of its runs are in the table."""
    diverged = int((table["status"] == "diverged").sum())
    count = f"{len(table)} of {len(runs)} runs" if len(table) else f"no finished runs of {len(runs)}"
    # On one line, for a blank one would end the paragraph that it stands in.
    description = f" ({' '.join(study.description.split())})" if study.description else ""
    return f"Study {study.study}{description}: {count}{f', {diverged} diverged' if diverged else ''}."


def notes(table: pd.DataFrame) -> list[str]:
    """Notes on the numbers: units, the signatures of BLEU, sentences, commits, hardware."""
    if table.empty:
        return []
    parts = [
        "Losses are label-smoothed, in bits/token, and BLEU is in percent, both of the last epoch; "
        "Best loss is the lowest validation loss of all epochs."
    ]
    if guesses := sorted({f"{bits:.2f}" for bits in table["constant_guess"].dropna()}):
        parts.append(
            f"The unigram baseline, which gives each token its frequency in the training text, has "
            f"{' or '.join(guesses)} bits: a run that ends no lower has learned nothing else."
        )
    for column, name in (
        ("signature_tokenised", "BLEU"),
        ("signature_sacrebleu", "sacreBLEU"),
        ("signature_chrf", "chrF"),
        ("commit", "Commit"),
        ("hardware", "Hardware"),
    ):
        values = sorted({str(value) for value in table.get(column, pd.Series()).dropna()})
        if values:
            parts.append(f"{name}: {'; '.join(values)}.")
    sentences = table[["sentences_valid", "sentences_test"]].dropna().drop_duplicates()
    for valid, test in sorted(sentences.itertuples(index=False, name=None)):
        parts.append(f"BLEU is of {valid} sentences of valid and {test} of test.")
    if table["paper_statement"].notna().any():
        parts.append(
            "The paper does not say at which peak rate BLEU was 8.45 without and around 34 with warm-up, so these "
            "stand beside the runs of every rate."
        )
    return parts


def _paper(study: Study, settings: RunSettings) -> dict[str, float | str | None]:
    """The paper's words and numbers on a run with these settings, where the study repeats the paper."""
    row: dict[str, float | str | None] = dict.fromkeys(_PAPER)
    if not study.paper_settings or study.corpora[settings.corpus].source != "iwslt14":
        return row
    columns: dict[Quantity, str] = {"bleu": "paper_bleu", "valid_loss": "paper_valid_loss"}
    names = {"bleu": "BLEU", "valid_loss": "loss"}
    statements = []
    for entry in paper.load():
        in_the_text = entry.how_known in ("printed", "stated")
        if in_the_text and entry.x == settings.epochs and entry.is_of(settings):
            row[columns[entry.quantity]] = entry.y
            statements.append(f"{entry.statement} ({names[entry.quantity]})")
    row["paper_statement"] = "; ".join(statements) or None
    return row


def _setting(value: object) -> str:
    return short(value) if isinstance(value, float) else MISSING if value is None else str(value)


def make(study: Study, records: Records) -> Content:
    """The table of those of the runs that are done."""
    table = full(study, records.runs, records.summary)
    text = readable(records.runs, table)
    return Content(table, text, title(study, records.runs, table), notes(table))


TABLE = Table(
    name="runs",
    title="The translation runs",
    caption="A row for each run that is done: the settings that vary in the study, whether the run finished or "
    "diverged and at which update, its losses, and its BLEU. Valid. loss and BLEU are of the last epoch, "
    "Best loss is the lowest of all epochs. BLEU is of tokenised text, and sacreBLEU and chrF are of detokenised "
    "text; in languages that Moses does not tokenise, BLEU is sacreBLEU's. "
    "Where the study is at the paper's settings, the last column has what the paper's text says of such a "
    "run.",
    source=SOURCE,
    make=make,
    computed=_COMPUTED,
)


def _drawn(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    """A row for each corpus that has a run that is done; the loss, and BLEU where one has it. The note has how many
    runs are done, and what most of them share."""
    settings = [series(run.settings) for run in records.runs]
    called, common = names(settings, always={"placement"})
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
    return rows, f"{progress_of(study, records)} {shared(common)}"


FIGURE = curve_figure.figure(
    _drawn,
    name="runs",
    title="The study's own translation runs",
    caption="Every translation run of the study: the validation loss, and BLEU on test, by update. The line tells the "
    "placement. Several seeds are a mean line, with a band from the lowest to the highest. A run that diverged is a "
    "thin line, and a cross on the edge at the update at which it did. Losses far above the unigram baseline are drawn "
    "at the upper edge. More than twelve curves have panels of their own.",
    source=SOURCE,
    of=legible,
)
