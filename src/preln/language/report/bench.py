"""The bench of language models: every placement at its best rate, beside Pre-LN.

The rule stands, with its date, in config/language-bench.yaml. A part of the runs decides only what it has whole: a row
counts the seeds that all of its cells have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from preln.config import LanguageSettings, Study
from preln.language.bench import MARGIN, Cell, Row, measured
from preln.language.report.failure_map import endings
from preln.language.report.records import SOURCE, Records
from preln.language.runs import LanguageRun
from preln.libraries import pd
from preln.report.core import failure_map_figure, forms
from preln.report.core.entries import Figure, Table
from preln.report.core.failure_map import in_a_map, model_of, names_of_models
from preln.report.core.forms import MISSING, Content
from preln.report.core.statistics import LEARNED, plus_minus

_FEWEST_PLACEMENTS = 3
_PLAIN: dict[str, Any] = {"placement": "pre", "norm": "layer", "qk_norm": False, "initialisation": "own"}
"""The model with which all are compared, which has all else of theirs."""
_COMPUTED = (
    *("difference", "low", "high", "loss", "loss_half", "loss_at_a_third", "loss_at_a_third_half"),
    *("loss_at_three_times", "loss_at_three_times_half", "gain_of_warmup", "gain_of_warmup_half"),
    *("cost", "cost_low", "cost_high"),
)
_RATES = ("learning_rate", "highest_rate", "highest_rate_with_warmup")


@dataclass(frozen=True)
class Entry:
    """A model of a bench: its placement, with the options and the initialisation in which the models differ; its
    settings, without rate, warm-up and seed; the losses of the seeds that all of its cells have; the seconds of an
    update, by cell and seed, of every run that is done; and how many runs are done, and asked for."""

    name: str
    settings: LanguageSettings
    row: Row
    seconds: dict[tuple[Cell, int], float]
    runs: int
    asked: int

    @property
    def has_best_inside(self) -> bool:
        """Tell whether the best rate lies inside the grid, or no rate trains, so that the row can be judged."""
        rates = sorted({rate for rate, _ in self.row.losses})
        best = self.row.best
        return best is not None and (rates[0] < best[0] < rates[-1] or not self.row.trains(best))

    @property
    def losses(self) -> list[float]:
        """The losses of the best cell by which the row is judged; none where it cannot be."""
        return self.row.sample if self.has_best_inside and len(self.row.sample) > 1 else []

    def cost(self, reference: Entry) -> tuple[float, float, float]:
        """The time of an update over the reference's, of the runs with the same rate, warm-up and seed: the median, and
        the lowest and the highest quartile; NaN where there are none."""
        ratios = [seconds / reference.seconds[run] for run, seconds in self.seconds.items() if run in reference.seconds]
        if len(ratios) < 2:
            return (ratios[0], math.nan, math.nan) if ratios else (math.nan, math.nan, math.nan)
        low, _, high = quantiles(ratios, n=4)
        return median(ratios), low, high


def on_a_bench(study: Study, runs: Sequence[LanguageRun]) -> Sequence[LanguageRun]:
    """The runs of a bench: three placements or more, one of them Pre-LN, each at three rates or more with two lengths
    of warm-up or more. Nothing of a study without one."""
    shown = in_a_map(study, runs)
    placements = {run.settings.placement for run in shown}
    return shown if len(placements) >= _FEWEST_PLACEMENTS and "pre" in placements else []


def entries(records: Records) -> list[Entry]:
    """The models of a bench, in the order of the runs."""
    every = endings(records)
    models: dict[Any, list[LanguageRun]] = {}
    for run in records.runs:
        models.setdefault(model_of(run.settings), []).append(run)
    ended = {ending.settings: ending for ending in every.done}
    speeds = {run: float(curve["tokens_per_second"].median()) for run, curve in records.curves.groupby("run")}
    called = names_of_models([runs[0].settings for runs in models.values()])
    built = []
    for model, runs in models.items():
        losses: dict[Cell, dict[int, float]] = {}
        seconds = {}
        for run in runs:
            cell = (run.settings.learning_rate, run.settings.warmup)
            seeds = losses.setdefault(cell, {})
            if ending := ended.get(run.settings):
                seeds[run.settings.seed] = ending.loss
                if run.id in speeds:
                    seconds[cell, run.settings.seed] = run.settings.tokens_an_update / speeds[run.id]
        row = Row(losses, max((ended[run.settings].guess for run in runs if run.settings in ended), default=math.nan))
        done = sum(map(len, losses.values()))
        built.append(Entry(called[runs[0].settings], model, row.of_seeds(row.common), seconds, done, len(runs)))
    return built


def reference_of(entry: Entry, every: Sequence[Entry]) -> Entry | None:
    """Pre-LN without options, with all else of a model; None where the bench does not have it."""
    plain = entry.settings.model_copy(update=_PLAIN)
    return next((candidate for candidate in every if candidate.settings == plain), None)


def table(records: Records) -> pd.DataFrame:
    """A row for each model, in full precision. Of one that cannot be judged yet, `verdict` is empty, and `undecided`
    says why."""
    every = entries(records)
    rows = []
    for entry in every:
        reference = reference_of(entry, every)
        numbers = measured(entry.row, reference.losses if reference else [])
        cost = entry.cost(reference) if reference else (math.nan, math.nan, math.nan)
        undecided = _undecided(entry, reference)
        if undecided or entry is reference:
            numbers |= {"verdict": "", "difference": None, "low": None, "high": None}
        rows.append(
            {
                "model": entry.name,
                "runs": entry.runs,
                "asked": entry.asked,
                **numbers,
                **dict(zip(("cost", "cost_low", "cost_high"), cost, strict=True)),
                "undecided": undecided,
            }
        )
    return pd.DataFrame(rows).astype({**dict.fromkeys((*_COMPUTED, *_RATES), float), "warmup": "Int64"})


def _undecided(entry: Entry, reference: Entry | None) -> str:
    """Why a model cannot be judged yet; empty where it can."""
    if reference is None:
        return "there is no Pre-LN like it"
    for judged, owner in ((entry, ""), (reference, "Pre-LN's ")):
        if len(judged.row.common) < 2:
            return f"{owner}grid does not have two whole seeds"
        if not judged.has_best_inside:
            return f"{owner}best rate is at an end of the grid"
    return ""


def readable(full: pd.DataFrame) -> pd.DataFrame:
    """The table for readers."""
    rows = []
    for row in full.to_dict("records"):
        rows.append(
            {
                "Model": row["model"],
                "Loss": _with_half(row, "loss"),
                "Rate": forms.rate(row["learning_rate"]),
                "Warm-up": MISSING if pd.isna(row["warmup"]) else str(row["warmup"]),
                "Beside Pre-LN": _beside(row),
                "Verdict": row["verdict"] or row["undecided"] or MISSING,
                "At a third": _with_half(row, "loss_at_a_third"),
                "At 3 times": _with_half(row, "loss_at_three_times"),
                "Highest rate": forms.rate(row["highest_rate"]),
                "With warm-up": forms.rate(row["highest_rate_with_warmup"]),
                "Gain of warm-up": _with_half(row, "gain_of_warmup"),
                "Cost": _cost(row),
                "Seeds": str(row["seeds"]),
                "Runs": str(row["runs"]) if row["runs"] == row["asked"] else f"{row['runs']} of {row['asked']}",
            }
        )
    return pd.DataFrame(rows)


def _with_half(row: Any, name: str) -> str:
    return MISSING if pd.isna(row[name]) else plus_minus(row[name], row[f"{name}_half"], ".3f", ".3f")


def _beside(row: Any) -> str:
    if pd.isna(row["difference"]):
        return MISSING
    return plus_minus(row["difference"], row["high"] - row["difference"], "+.3f", ".3f")


def _cost(row: Any) -> str:
    if pd.isna(row["cost"]):
        return MISSING
    quartiles = "" if pd.isna(row["cost_low"]) else f" ({row['cost_low']:.2f} to {row['cost_high']:.2f})"
    return f"{row['cost']:.2f}{quartiles}"


NOTE = (
    "Losses are the last on valid, in bits a token, with the 95% interval over the seeds; the unigram baseline "
    f"stands for one above it. A run trains if it ends at least {LEARNED} bits below the baseline, and a cell, a rate "
    "with a warm-up, if all of its seeds do. A model's loss is that of its best cell. Beside Pre-LN: the difference "
    "of the means with the 95% interval of Welch's t; a model is ahead or behind if the interval lies beyond "
    f"{MARGIN} bits. A third of the best rate and three times it are interpolated, with the best warm-up. The highest "
    "rate trains without a warm-up, or with the longest, while a lower one does too; the grid may end there. The "
    "gain of the warm-up is the lowest loss without one minus that with one. The cost is the time of an update over "
    "that of Pre-LN, in the runs of equal rate, warm-up and seed: the median, with the quartiles. Seeds are those "
    "that all cells have."
)


def make(study: Study, records: Records) -> Content:
    """The table of a bench."""
    full = table(records)
    return Content(full, readable(full), records.progress, [NOTE, *records.origin])


TABLE = Table(
    name="language-bench",
    title="The placements on the bench of language models",
    caption="For each placement, option and initialisation: the loss at its best rate and beside Pre-LN, at a third "
    "and at three times the best rate, the highest rate that trains, what a warm-up gains, and what an update costs.",
    source=SOURCE,
    of=on_a_bench,
    make=make,
    computed=_COMPUTED,
)
FIGURE = Figure(
    name="language-bench",
    title="The placements on the bench of language models",
    caption=failure_map_figure.RATES_CAPTION,
    source=SOURCE,
    of=on_a_bench,
    compose=lambda study, records: failure_map_figure.compose_rates(study, endings(records)),
)
