"""The loss of each run over the sum of learning rates that it has spent, and the paper's numbers over the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.jobs.grid import series
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, Reference, TrainedRun, curves_of, shared
from preln.report.core.figure import Figure
from preln.report.core.labels import names
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.report.budgets import WARMED_UP, curve_of, of_the_paper, spent, sum_of_rates
from preln.translation.report.curves import AXES, baseline, looks_of
from preln.translation.report.records import SOURCE, Records
from preln.translation.report.table_rate_budgets import comparable
from preln.values import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_X_TITLE = "Sum of the learning rates so far"
_ANCHORS: dict[str, dict[str, Any]] = {"warmup": {"markerfacecolor": "0.2"}, "hold": {"markerfacecolor": "white"}}
_MARKERS = {(1, 5e-4): "o", (1, 1e-3): "s", (500, 5e-4): "^", (500, 1e-3): "D"}
"""The marker of a number of the paper, by T_warmup and the peak rate."""


def runs(records: Records) -> list[TrainedRun]:
    """The runs by Adam or RAdam that finished, with the sums of their rates in place of their updates. The rates of SGD
    are on a scale of their own."""
    finished = set(records.summary.loc[records.summary["status"] == "finished", "run"])
    drawn = []
    for run in records.runs:
        if run.id in finished and run.settings.optimizer != "sgd":
            points = records.curves[records.curves["run"] == run.id].sort_values("epoch")
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


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records: the paper's numbers, and the study's."""
    of_paper = Panel("The paper", "BLEU", (), references=_references(), x_title=_X_TITLE, log=frozenset({"x"}))
    _, common = names(_settings(records))
    note = (
        f"Study {study.study}: {len(runs(records))} of {len(records.runs)} runs; those of SGD, and those that "
        f"diverged, are left out. A point at the end of each epoch. {shared(common)}"
    )
    return curve_figure.compose([[of_paper, panel(study, records)]], note, legend_by_column=True)


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
    curves=lambda study, records: curve_figure.curves([[panel(study, records)]]),
)
