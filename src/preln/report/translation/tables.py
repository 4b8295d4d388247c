"""The table of a study's runs: CSV for programs, Markdown and LaTeX for readers, plain text for the terminal.

The CSV has every setting that varies in the study, the values of the records as they stand there, and what is computed
from these to six digits. The other forms are rounded for readers; a note below them says how BLEU was computed, on
which commit, and on what hardware.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from preln.config import RunSettings, Study
from preln.errors import PrelnError
from preln.files import write_text
from preln.report.core.labels import OPTIMIZERS, PLACEMENTS, schedule, varying
from preln.report.reference import translation as paper
from preln.report.reference.translation import Quantity
from preln.report.translation.records import SUMMARY, summary
from preln.runs import Run
from preln.schedules import SETTINGS
from preln.values import short

_ALWAYS = {"placement", "optimizer", "learning_rate", "schedule", "warmup", "seed"}
_PAPER = ["paper_bleu", "paper_valid_loss", "paper_statement"]
FORMS = (".csv", ".md", ".tex")
MISSING = "–"
DIGITS = 6
"""Significant digits of what is computed from the records, of which those of single precision have seven. The last
digits of a double would depend on the C library."""
_COMPUTED = ("tokens_per_second",)
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"},
        **{"|": "\\textbar{}", "<": "\\textless{}", ">": "\\textgreater{}"},
        **{"×": "$\\times$", "±": "$\\pm$", "–": "--", "‖": "$\\Vert$"},
    }
)
# What Markdown reads anywhere in a line.
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>&|~$"})


def write(study: Study, runs: Sequence[Run], results: Path, out: Sequence[Path]) -> None:
    """Write the table of runs to each file of `out`, in the form of its suffix (csv, md, tex).

    Args:
        study: the study.
        runs: all runs of the study; those that are not done are left out, and a note says how many are in.
        results: folder of the results of all studies.
        out: the files to write.

    Raises:
        RecordError: if a record cannot be used.
        PrelnError: if a suffix is of no such form.
    """
    require_forms(out)
    forms = {".csv": _csv, ".md": markdown, ".tex": latex}
    table = full(study, runs, summary(study, runs, results))
    for path in out:
        write_text(path, forms[path.suffix](study, runs, table))


def write_forms(
    table: pd.DataFrame, text: pd.DataFrame, notes: str, label: str, out: Sequence[Path], computed: Sequence[str] = ()
) -> None:
    """Write a table to each file of `out`, in the form of its suffix.

    Args:
        table: in full precision, of which the CSV is made.
        text: rounded for readers, for Markdown and LaTeX.
        notes: what stands below the one and is the caption of the other.
        label: of the LaTeX table.
        out: the files, of the forms that `require_forms` lets pass.
        computed: the columns that are not of the records as they stand, but computed from them.
    """
    rows = text.map(lambda cell: escaped(str(cell))).rename(columns=escaped).to_latex(index=False, escape=False)
    # Numbers are text already; the printer would write 1e-3 as 0.001.
    grid = text.to_markdown(index=False, disable_numparse=True)
    texts = {
        ".csv": in_csv(table, computed),
        ".md": f"{grid}\n\n{notes}\n",
        ".tex": floating(notes, label, [rows.rstrip()] if len(text) else []),
    }
    for path in out:
        write_text(path, texts[path.suffix])


def in_csv(table: pd.DataFrame, computed: Sequence[str]) -> str:
    """A table as CSV: the columns that are computed from the records to `DIGITS` significant digits, and all else as it
    stands."""
    rounded = {
        name: table[name].map(lambda value: float(f"{value:.{DIGITS}g}"), na_action="ignore")
        for name in computed
        if name in table.columns
    }
    return table.assign(**rounded).to_csv(index=False, lineterminator="\n")


def require_forms(out: Sequence[Path]) -> None:
    """See that each file's suffix is a form of a table, before any is written.

    Raises:
        PrelnError: if one is not.
    """
    for path in out:
        if path.suffix not in FORMS:
            raise PrelnError(f"{path}: no form of a table; allowed: {', '.join(FORMS)}")


def plain(study: Study, runs: Sequence[Run], results: Path) -> str:
    """The table of runs as text for a terminal, with a title and the note below it.

    Raises:
        RecordError: if a record cannot be used.
    """
    table = full(study, runs, summary(study, runs, results))
    return "\n\n".join([title(study, runs, table), *_grid(runs, table, "simple"), *notes(table)]) + "\n"


def full(study: Study, runs: Sequence[Run], done: pd.DataFrame) -> pd.DataFrame:
    """The table in full precision: the run, each setting that varies in the study, what the records say, and
    the paper's value where the paper gives one in its text for such a run.

    Args:
        study: the study.
        runs: all runs of the study; the columns depend on them and not on what is done.
        done: the summary of the runs that are done.
    """
    differing = varying(run.settings for run in runs)
    settings = [key for key in RunSettings.model_fields if key in differing | _ALWAYS]
    by_id = {run.id: run for run in runs}
    paper = pd.DataFrame([_paper(study, by_id[run].settings) for run in done["run"]], columns=_PAPER, index=done.index)
    return pd.concat([done[["run", *settings, *SUMMARY]], paper], axis="columns")


def readable(runs: Sequence[Run], table: pd.DataFrame) -> pd.DataFrame:
    """The full table rounded to text for readers; BLEU is that of the last epoch, on tokenised text but for
    the column that says sacreBLEU."""
    by_id = {run.id: run.settings for run in runs}
    differing = varying(by_id.values())
    told = _ALWAYS | SETTINGS
    others = [key for key in RunSettings.model_fields if key in differing - told]
    rows = []
    for row in table.to_dict("records"):
        settings = by_id[row["run"]]
        diverged = row["status"] == "diverged"
        rows.append(
            {
                "Model": PLACEMENTS[settings.placement],
                "Optimizer": OPTIMIZERS[settings.optimizer],
                "Peak rate": short(settings.learning_rate),
                "Schedule": schedule(settings),
                "Warm-up": str(settings.warmup) if settings.warmup > 1 else "none",
                **{key.replace("_", " ").capitalize(): _setting(getattr(settings, key)) for key in others},
                "Seed": str(settings.seed),
                "Updates": f"{row['updates']}",
                "Status": f"diverged at {row['diverged_update']}" if diverged else "finished",
                "Valid. loss": rounded(row["final_valid_loss"], 3),
                "Best loss": rounded(row["best_valid_loss"], 3),
                "Valid. BLEU": rounded(row["final_valid_bleu"], 2),
                "Test BLEU": rounded(row["final_test_bleu"], 2),
                "Test sacreBLEU": rounded(row["final_test_sacrebleu"], 2),
                "Tokens/s": rounded(row["tokens_per_second"], 0),
                "Time": str(datetime.timedelta(seconds=round(row["seconds"]))),
                "Paper": row["paper_statement"] if pd.notna(row["paper_statement"]) else "",
            }
        )
    text = pd.DataFrame(rows)
    # A study that is not the paper's has nothing in the column.
    return text if len(text) == 0 or (text["Paper"] != "").any() else text.drop(columns="Paper")


def markdown(study: Study, runs: Sequence[Run], table: pd.DataFrame) -> str:
    """The readable table in Markdown, with its title above and the notes below it."""
    heading = f"**{title(study, runs, table).translate(_MARKDOWN)}**"
    return "\n\n".join([heading, *_grid(runs, table, "github"), *notes(table)]) + "\n"


def latex(study: Study, runs: Sequence[Run], table: pd.DataFrame) -> str:
    """The readable table as a LaTeX `table*`, which needs the package booktabs."""
    text = readable(runs, table)
    rows = []
    if len(text):
        numeric = {"Peak rate", "Warm-up", "Seed", "Updates", "Valid. loss", "Best loss", "Tokens/s", "Time"}
        alignment = "".join("r" if name in numeric or "BLEU" in name else "l" for name in text.columns)
        # The escape of to_latex is not used: it leaves characters such as × as they are.
        in_latex = text.map(escaped).rename(columns=escaped)
        rows = [in_latex.to_latex(index=False, escape=False, column_format=alignment).rstrip()]
    below = [f"\\par\\smallskip\\footnotesize {escaped(' '.join(notes(table)))}"] if len(table) else []
    return floating(title(study, runs, table), f"tab:runs-{study.study}", [*rows, *below])


def floating(caption: str, label: str, body: Sequence[str]) -> str:
    """A LaTeX `table*` with what is in it; the caption is escaped here."""
    return (
        "\n".join(
            [
                *("\\begin{table*}", "\\centering", f"\\caption{{{escaped(caption)}}}", f"\\label{{{label}}}"),
                *("\\scriptsize", "\\setlength{\\tabcolsep}{3pt}", *body, "\\end{table*}"),
            ]
        )
        + "\n"
    )


def title(study: Study, runs: Sequence[Run], table: pd.DataFrame) -> str:
    """What the table is of, and how many of the study's runs are in it."""
    diverged = int((table["status"] == "diverged").sum())
    count = f"{len(table)} of {len(runs)} runs" if len(table) else f"no finished runs of {len(runs)}"
    # On one line, for a blank one would end the paragraph that it stands in.
    description = f" ({' '.join(study.description.split())})" if study.description else ""
    return f"Study {study.study}{description}: {count}{f', {diverged} diverged' if diverged else ''}."


def notes(table: pd.DataFrame) -> list[str]:
    """How the numbers were computed: units, the signatures of BLEU, sentences, commits, hardware."""
    if table.empty:
        return []
    parts = [
        "Losses are label-smoothed, in bits/token, and BLEU is in percent, both of the last epoch; "
        "Best loss is the lowest validation loss of all epochs."
    ]
    for column, name in (
        ("signature_tokenised", "BLEU"),
        ("signature_sacrebleu", "sacreBLEU"),
        ("commit", "Commit"),
        ("hardware", "Hardware"),
    ):
        values = sorted({str(value) for value in table[column].dropna()})
        if values:
            parts.append(f"{name}: {'; '.join(values)}.")
    sentences = table[["sentences_valid", "sentences_test"]].dropna().drop_duplicates()
    for valid, test in sorted(sentences.itertuples(index=False, name=None)):
        parts.append(f"BLEU is of {valid} sentences of valid and {test} of test.")
    return parts


def _csv(study: Study, runs: Sequence[Run], table: pd.DataFrame) -> str:
    return in_csv(table, _COMPUTED)


def _grid(runs: Sequence[Run], table: pd.DataFrame, form: str) -> list[str]:
    """The readable table as text, or nothing where no run is done."""
    text = readable(runs, table)
    # Numbers are text already; the printer would write 1e-3 as 0.001.
    return [text.to_markdown(index=False, tablefmt=form, disable_numparse=True)] if len(text) else []


def _paper(study: Study, settings: RunSettings) -> dict[str, float | str | None]:
    """What the paper's text says of a run with these settings, where the study repeats the paper."""
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


def rounded(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if pd.notna(value) else MISSING


def escaped(text: str) -> str:
    """The text with what LaTeX would take for commands escaped."""
    return text.translate(_LATEX)
