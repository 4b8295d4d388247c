"""Each run's sum of learning rates, and what the study's run with the warm-up had when it had spent as much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.libraries import pd
from preln.report.core.forms import Content, rounded
from preln.report.core.labels import label, varying
from preln.report.core.table import Table
from preln.schedules import SETTINGS
from preln.translation.report.budgets import read_at, spent
from preln.translation.report.records import SOURCE, Records
from preln.translation.runs import Run
from preln.values import short

_FREE = SETTINGS | {"schedule", "learning_rate", "warmup", "epochs", "figures"}
"""The settings in which a run may differ from the one that it is compared with: its rates, and how long it has them."""
_RUN = ["run", "updates", "sum_of_rates"]
_REFERENCE = ["reference", "reference_epoch", "valid_loss", "reference_valid_loss", "test_bleu", "reference_test_bleu"]
_COMPUTED = ["sum_of_rates", "reference_epoch", "reference_valid_loss", "reference_test_bleu"]


def alike(left: RunSettings, right: RunSettings) -> bool:
    """True of two runs of one seed that differ in their rates alone."""
    return all(getattr(left, key) == getattr(right, key) for key in RunSettings.model_fields if key not in _FREE)


def references(run: Run, runs: Sequence[Run]) -> list[Run]:
    """The runs with the longest warm-up, and an inverse square root behind it, with which a run may be compared."""
    warmed_up = [
        reference
        for reference in runs
        if reference != run
        and reference.settings.schedule == "inverse-sqrt"
        and reference.settings.warmup > 1
        and alike(run.settings, reference.settings)
    ]
    longest = max((reference.settings.warmup for reference in warmed_up), default=0)
    return [reference for reference in warmed_up if reference.settings.warmup == longest >= run.settings.warmup]


def comparable(study: Study, runs: Sequence[Run]) -> Sequence[Run]:
    """All runs of a study in which some can be compared so; else none."""
    return runs if any(references(run, runs) for run in runs) else []


def make(study: Study, records: Records) -> Content:
    """The table of those of the runs that finished."""
    finished = set(records.summary.loc[records.summary["status"] == "finished", "run"])
    runs = [run for run in records.runs if run.id in finished]
    curves = {run.id: records.curves[records.curves["run"] == run.id].sort_values("epoch") for run in runs}
    sums = {run.id: spent(run.settings, curves[run.id]["updates"].tolist()) for run in runs}
    differing = varying(run.settings for run in runs) | {"seed"} if runs else set()
    rows, text = [], []
    for run in runs:
        last, budget = curves[run.id].iloc[-1], sums[run.id][-1]
        # Of several rates, the one that ends best.
        reference = min(references(run, runs), key=lambda run: curves[run.id].iloc[-1]["valid_loss"], default=None)
        row = dict.fromkeys(_REFERENCE) | {
            "run": run.id,
            "updates": int(last["updates"]),
            "sum_of_rates": budget,
            "valid_loss": last["valid_loss"],
            "test_bleu": last["test_bleu"],
        }
        if reference is not None:
            row["reference"] = reference.id
            for name in ("epoch", "valid_loss", "test_bleu"):
                values = curves[reference.id][name].astype(float).tolist()
                row[f"reference_{name}"] = read_at(sums[reference.id], values, budget)
        rows.append(row)
        text.append(
            _readable(run, row, reference, reference is not None and budget >= sums[reference.id][-1], differing)
        )
    table = pd.DataFrame(rows, columns=[*_RUN, *_REFERENCE])
    title = f"Study {study.study}: sums of rates of {len(rows)} of {len(records.runs)} runs."
    return Content(table, pd.DataFrame(text), title, [NOTE] if rows else [])


def _readable(
    run: Run, row: dict[str, Any], reference: Run | None, beyond: bool, differing: set[str]
) -> dict[str, str]:
    compared = f"{short(reference.settings.learning_rate)}, warm-up {reference.settings.warmup}" if reference else ""
    return {
        "Run": f"{label(series(run.settings), differing)}, seed {run.settings.seed}",
        "Sum of rates": rounded(row["sum_of_rates"], 3),
        "Over its peak": rounded(row["sum_of_rates"] / run.settings.learning_rate, 0),
        "With the warm-up": compared,
        "spent at epoch": "after " * beyond + rounded(row["reference_epoch"], 2),
        "Valid. loss": rounded(row["valid_loss"], 3),
        "Loss with it": rounded(row["reference_valid_loss"], 3),
        "Test BLEU": rounded(row["test_bleu"], 2),
        "BLEU with it": rounded(row["reference_test_bleu"], 2),
    }


NOTE = (
    "Each run is compared with one run with a warm-up. Of the runs that differ from it in their rates alone, that is "
    "the one with the longest warm-up; if several have it, the one that ends best. Its loss and BLEU are read where "
    "its rates have summed to as much, on a straight line between two of its epochs. A run that spends less than that "
    "run's first epoch is compared with nothing, and one that spends more than all of it with its last epoch. This is "
    "a heuristic: it takes progress to depend on the sum of rates alone, and expects too little of a run whose last "
    "rates are small."
)

TABLE = Table(
    name="rate-budgets",
    title="Budgets of rate",
    caption="The sum of the learning rates of each translation run that finished, and what the study's run with the "
    "longest warm-up had when it had spent as much. Where a run without a warm-up is no worse than that, its small "
    "rates explain it; where it is worse, they do not.",
    source=SOURCE,
    of=comparable,
    make=make,
    computed=_COMPUTED,
)
