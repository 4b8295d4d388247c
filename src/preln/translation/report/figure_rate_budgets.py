"""The loss of each run over the sum of learning rates that it has spent, and the paper's numbers over the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.libraries import pd
from preln.report.core.curves import EXTENT, Curves, by_series, means
from preln.report.core.figure import Figure, NothingDone
from preln.report.core.labels import label, varying
from preln.report.core.statistics import extent
from preln.report.core.style import NOTE, TEXT_WIDTH, Style, legend_below, plain_ticks, styles
from preln.report.reference import translation as paper
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.report.budgets import SERIES, WARMED_UP, of_the_paper, spent, sum_of_rates
from preln.translation.report.records import SOURCE, Records
from preln.translation.report.table_rate_budgets import comparable
from preln.values import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_PANEL_HEIGHT = 2.6  # inches
_LEGEND_LINE = 0.14  # inches
_X_TITLE = "Sum of the learning rates so far"
_ANCHORS: dict[str, dict[str, Any]] = {"warmup": {"markerfacecolor": "0.2"}, "hold": {"markerfacecolor": "white"}}
_MARKERS = {(1, 5e-4): "o", (1, 1e-3): "s", (500, 5e-4): "^", (500, 1e-3): "D"}
"""The marker of a number of the paper, by T_warmup and the peak rate."""


def values(records: Records) -> pd.DataFrame:
    """A row for each epoch of each run by Adam or RAdam that finished: `curve`, the name of the runs that differ in the
    seed alone; `run`; `seed`; `epoch`; `spent`, the sum of the rates at its end; and `value`, the validation loss."""
    finished = set(records.summary.loc[records.summary["status"] == "finished", "run"])
    rows = []
    grouped = by_series(records.runs)
    for settings, name in _named(records).items():
        for run in grouped[settings]:
            if run.id not in finished:
                continue
            curve = records.curves[records.curves["run"] == run.id].sort_values("epoch")
            sums = spent(run.settings, curve["updates"].tolist())
            for point, total in zip(curve.to_dict("records"), sums, strict=True):
                rows.append((name, run.id, run.settings.seed, point["epoch"], total, point["valid_loss"]))
    return pd.DataFrame(rows, columns=["curve", "run", "seed", "epoch", "spent", "value"])


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records: the paper's numbers, and the study's."""
    from matplotlib.figure import Figure as Drawing

    found = values(records)
    if not len(found):
        raise NothingDone
    looks = styles(records.runs)
    drawn = {name: looks[settings] for settings, name in _named(records).items() if name in set(found["curve"])}
    legend_height = _LEGEND_LINE * (math.ceil(len(drawn) / 2) + 1)
    figure = Drawing(figsize=(TEXT_WIDTH, _PANEL_HEIGHT + legend_height), layout="constrained")
    space = figure.add_gridspec(2, 2, height_ratios=[_PANEL_HEIGHT, legend_height])
    _draw_paper(figure.add_subplot(space[0, 0]))
    axes = figure.add_subplot(space[0, 1])
    _draw(axes, found, drawn)
    guesses = records.summary["constant_guess"].dropna()
    if len(guesses):
        axes.axhline(guesses.max(), color="0.4", linewidth=0.8, linestyle=":")
        axes.annotate(
            "constant guess", (0.01, guesses.max()), xycoords=("axes fraction", "data"), fontsize=6, va="bottom"
        )
    handles, texts = axes.get_legend_handles_labels()
    legend_below(figure, space[1, :], handles, labels=texts, loc="upper center", ncols=2, borderaxespad=0)
    done = (
        f"Study {study.study}: {found['run'].nunique()} of {len(records.runs)} runs; those of SGD, and those that "
        "diverged, are left out."
    )
    figure.supxlabel(f"{done} A point at the end of each epoch.", **NOTE)
    return figure


def _named(records: Records) -> dict[Any, str]:
    """The name of each curve by its settings. The rates of SGD are on a scale of their own, so it has none."""
    runs = [run for run in records.runs if run.settings.optimizer != "sgd"]
    differing = varying(run.settings for run in runs) - {"corpus"}
    return {settings: label(settings, differing) for settings in by_series(runs)}


def _draw_paper(axes: Axes) -> None:
    """The paper's BLEU with the warm-up, and its numbers of shorter ones in both readings."""
    curve = [one for one in paper.load() if one.series == SERIES and one.quantity == "bleu" and not one.statement]
    points = [(sum_of_rates(WARMED_UP, round(one.update)), one.y) for one in curve if one.y is not None]
    axes.plot(*zip(*points, strict=True), color="0.45", linewidth=1.2, label="T = 4000, 5e-4 (figure 4)")
    for reading in of_the_paper():
        schedule = reading.schedule
        if not isinstance(schedule, InverseSqrt):
            continue
        length = max(schedule.warmup, 1)
        look = {**_ANCHORS[schedule.anchor], "marker": _MARKERS[length, schedule.learning_rate]}
        name = f"T = {length}, {short(schedule.learning_rate)}" if schedule.anchor == "warmup" else None
        axes.plot(reading.budget, reading.paper, linestyle="none", color="0.2", markersize=5, label=name, **look)
    axes.set(title="The paper", xlabel=_X_TITLE, ylabel="BLEU")
    axes.set_xscale("log")
    axes.legend(frameon=False, loc="upper left", fontsize=6)


def _draw(axes: Axes, found: pd.DataFrame, looks: dict[str, Style]) -> None:
    """The study's curves: means over the seeds."""
    for curve, look in looks.items():
        mine = found[found["curve"] == curve]
        points = means(mine, "epoch", extent).assign(spent=mine.groupby("epoch", sort=False)["spent"].mean().tolist())
        axes.plot(
            points["spent"],
            points["value"],
            color=look.colour,
            marker=look.marker,
            fillstyle=look.filling,
            linestyle=look.line,
            linewidth=1.0,
            markersize=4,
            label=curve,
        )
    axes.set(title="The study", xlabel=_X_TITLE, ylabel="Validation loss (bits/token)")
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)


def curves(study: Study, records: Records) -> list[Curves]:
    """The study's curves as numbers."""
    found = values(records)
    if not len(found):
        return []
    table = means(found, "spent", extent)
    return [Curves("Loss over the sum of rates", "spent", _X_TITLE, "bits a token", table, pd.DataFrame(), EXTENT)]


FIGURE = Figure(
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
    compose=compose,
    curves=curves,
)
