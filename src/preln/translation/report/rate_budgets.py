"""The loss of each run over the sum of learning rates that it has spent, beside what the study's run with the warm-up
had when it had spent as much; and the paper's numbers over the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.libraries import pd
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, Reference, TrainedRun, curves_of, shared
from preln.report.core.entries import Table
from preln.report.core.forms import Content, rounded
from preln.report.core.labels import label, names, varying
from preln.report.core.records import having
from preln.schedules import SETTINGS
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.report.budgets import WARMED_UP, curve_of, of_the_paper, read_at, spent, sum_of_rates
from preln.translation.report.curves import AXES, baseline, looks_of
from preln.translation.report.records import SOURCE, Records
from preln.translation.runs import Run
from preln.values import short

_FREE = SETTINGS | {"schedule", "learning_rate", "warmup", "epochs", "figures"}
"""The settings in which a run may differ from the one that it is compared with: its rates, and how long it has them."""
_RUN = ["run", "updates", "sum_of_rates"]
_REFERENCE = ["reference", "reference_epoch", "valid_loss", "reference_valid_loss", "test_bleu", "reference_test_bleu"]
_COMPUTED = ["sum_of_rates", "reference_epoch", "reference_valid_loss", "reference_test_bleu"]
_X_TITLE = "Sum of the learning rates so far"
_ANCHORS: dict[str, dict[str, Any]] = {"warmup": {"markerfacecolor": "0.2"}, "hold": {"markerfacecolor": "white"}}
_MARKERS = {(1, 5e-4): "o", (1, 1e-3): "s", (500, 5e-4): "^", (500, 1e-3): "D"}
"""The marker of a number of the paper, by T_warmup and the peak rate."""


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
    curves = {run.id: having(records.curves, run=run.id).sort_values("epoch") for run in runs}
    sums = {run.id: spent(run.settings, curves[run.id]["updates"].tolist()) for run in runs}
    differing = varying(run.settings for run in runs)
    rows, text = [], []
    for run in runs:
        last, budget = curves[run.id].iloc[-1], sums[run.id][-1]
        # The rate that ends best, if there are several.
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


def runs(records: Records) -> list[TrainedRun]:
    """The runs by Adam or RAdam that finished, with the sums of their rates in place of their updates. The rates of SGD
    are on a scale of their own."""
    finished = set(records.summary.loc[records.summary["status"] == "finished", "run"])
    drawn = []
    for run in records.runs:
        if run.id in finished and run.settings.optimizer != "sgd":
            points = having(records.curves, run=run.id).sort_values("epoch")
            sums = spent(run.settings, points["updates"].tolist())
            drawn.append(TrainedRun(run.settings, points.assign(updates=sums), None))
    return drawn


def panel(study: Study, records: Records) -> Panel:
    """The study's losses."""
    called, _ = names(_settings(records))
    return Panel(
        title="The study",
        y_title=AXES["valid_loss"],
        curves=curves_of(runs(records), "valid_loss", called, looks_of(study)),
        x_title=_X_TITLE,
        baseline=baseline(records, records.runs),
        log=frozenset({"x"}),
    )


def _drawn(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    """The paper's numbers, and the study's."""
    has_ended = len(records.summary) > 0
    of_paper = Panel("The paper", "BLEU", (), _references(), _X_TITLE, log=frozenset({"x"}), drawn_alone=has_ended)
    _, common = names(_settings(records))
    note = (
        f"Study {study.study}: {len(runs(records))} of {len(records.runs)} runs; those of SGD, and those that "
        f"diverged, are left out. A point at the end of each epoch. {shared(common)}"
    )
    return [[of_paper, panel(study, records)]], note


def _settings(records: Records) -> list[Any]:
    return [series(run.settings) for run in records.runs if run.settings.optimizer != "sgd"]


def _references() -> tuple[Reference, ...]:
    """The paper's BLEU with the warm-up, and its numbers of shorter ones in both readings."""
    curve = curve_of("bleu")
    points = tuple((sum_of_rates(WARMED_UP, round(point.update)), point.y) for point in curve if point.y is not None)
    references = [Reference("T = 4000, 5e-4 (figure 4)", points, {"color": "0.45", "linewidth": 1.2})]
    for reading in of_the_paper():
        schedule = reading.schedule
        if not isinstance(schedule, InverseSqrt):
            continue
        length = max(schedule.warmup, 1)
        marker = _MARKERS[length, schedule.learning_rate]
        mark = {"color": "0.2", "linestyle": "none", "marker": marker, "markersize": 5}
        name = f"T = {length}, {short(schedule.learning_rate)}" if schedule.anchor == "warmup" else ""
        value = ((reading.budget, reading.paper),)
        references.append(Reference(name, value, {**mark, **_ANCHORS[schedule.anchor]}))
    return tuple(references)


FIGURE = curve_figure.figure(
    _drawn,
    legend_by_column=True,
    name="rate-budgets",
    title="Losses over the sum of the learning rates",
    caption="Left: the paper's BLEU with the full warm-up over the sum of the rates, and what it prints of shorter "
    "warm-ups T at the sum of theirs. Filled: the rate decays from the end of the warm-up on; open: the peak is held "
    "to update 4,000. The paper does not say which. A filled marker on the line could be explained by so small a sum "
    "of rates alone; a marker far below it could not. 8.45 is drawn at both rates, for the paper does "
    "not say at which it was.\n\n"
    "Right: the study's runs. Where one spends as much as the run with the warm-up and is far above it, the sum of its "
    "rates does not explain that. SGD's rates are on a scale of their own, so its runs are left out.",
    source=SOURCE,
    of=comparable,
)
