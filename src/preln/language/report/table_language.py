"""Language models as a table."""

from __future__ import annotations

from typing import Any

from preln import schedules
from preln.config import LanguageSettings, Study
from preln.language.report.records import SOURCE, Records
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.report.core.forms import Content, rounded
from preln.report.core.labels import OPTIMIZERS, varying
from preln.report.core.table import Table
from preln.values import short

_ALWAYS = ("placement", "optimizer", "learning_rate", "warmup", "updates", "seed")
_LEFT_OUT = {*_ALWAYS, *schedules.SETTINGS, "text"}
"""The settings without a column of their own for readers: the id of a run has those of its schedule."""


def rows(study: Study, records: Records) -> pd.DataFrame:
    """A row for each run that is done, in full precision: the settings that vary, how it ended, its losses and the
    unigram baseline in bits a token, and its speed."""
    told = {*_ALWAYS, *varying(run.settings for run in records.runs)}
    lines: list[dict[str, Any]] = []
    for run in (run for run in records.runs if run.id in records.metrics):
        lines.append(
            {
                "run": run.id,
                **{key: getattr(run.settings, key) for key in LanguageSettings.model_fields if key in told},
                **records.ending(run),
                "unigram_baseline": records.metrics[run.id]["unigram_baseline"],
                **records.speed(run),
            }
        )
    table = pd.DataFrame(lines)
    return table.astype({"diverged_update": "Int64"}) if len(table) else table


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    shown = []
    for row in table.to_dict("records"):
        others = [key for key in LanguageSettings.model_fields if key in row and key not in _LEFT_OUT]
        shown.append(
            {
                "Model": PLACEMENTS[row["placement"]].label,
                "Optimizer": OPTIMIZERS[row["optimizer"]],
                "Peak rate": short(row["learning_rate"]),
                "Warm-up": str(row["warmup"]) if row["warmup"] > 1 else "none",
                **{key.replace("_", " ").capitalize(): short(row[key]) for key in others},
                "Seed": str(row["seed"]),
                "Updates": str(row["trained_updates"]),
                "Status": row["status"] if row["status"] == "finished" else f"diverged at {row['diverged_update']}",
                "Valid. loss": rounded(row["final_valid_loss"], 3),
                "Best loss": rounded(row["best_valid_loss"], 3),
                "Unigram baseline": rounded(row["unigram_baseline"], 3),
                "Tokens/s": rounded(row["tokens_per_second"], 0),
            }
        )
    return pd.DataFrame(shown)


def make(study: Study, records: Records) -> Content:
    """The table of the language models."""
    table = rows(study, records)
    note = (
        "Losses are in bits a token. The unigram baseline is the loss of a model that knows only each token's "
        "frequency in the training text."
    )
    return Content(table, _readable(table), records.progress, [note, *records.origin])


TABLE = Table(
    name="language",
    title="Language models",
    caption="A row for each language model that is done: how it ended, its losses in bits a token, and the loss of the "
    "unigram baseline on the same text.",
    source=SOURCE,
    make=make,
    computed=("tokens_per_second",),
)
