"""Figure 5: BERT's validation loss by update, and the accuracy of its fine-tuned checkpoints (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from preln.config import PretrainingSettings, Study
from preln.pretraining.runs import PretrainingRun
from preln.report.core.labels import PLACEMENTS, TASKS
from preln.report.core.save_figure import say_empty
from preln.report.core.style import PLACEMENT_COLOURS, TEXT_WIDTH, line
from preln.report.pretraining.records import Records, chosen, reached, scores_of
from preln.report.reference import bert as paper
from preln.runs import series
from preln.values import short

_PANEL_HEIGHT = 2.0  # inches
_LINE_HEIGHT = 0.16
_ACROSS = 3
_MARKERS = ["o", "s", "^", "v", "D", "P"]
_PAPER: dict[str, Any] = {"color": "0.55", "linewidth": 0.7, "marker": "D", "markersize": 2.4, "zorder": 1}


def compose(study: Study, records: Records) -> Figure:
    """The figure of a study's records: one panel of losses, and one of accuracies for each task."""
    tasks = list(study.finetuning.tasks) if study.finetuning else []
    names = names_of(records.runs)
    looks = _looks(records.runs)
    rows = math.ceil((1 + len(tasks)) / _ACROSS)
    columns = min(1 + len(tasks), _ACROSS)
    known = [run for run in records.runs if run.id in records.metrics]
    points = [
        point for point in paper.load() if study.paper_settings and any(point.is_of(run.settings) for run in known)
    ]
    entries = len(known) + len({point.placement for point in points})
    legend = _LINE_HEIGHT * (math.ceil(entries / 2) + 1)
    figure = Figure(figsize=(TEXT_WIDTH, _PANEL_HEIGHT * rows + legend + 4 * _LINE_HEIGHT), layout="constrained")
    space = figure.add_gridspec(rows + 1, columns, height_ratios=[*([_PANEL_HEIGHT] * rows), legend])
    _losses(figure.add_subplot(space[0, 0]), records, known, looks, points)
    for number, task in enumerate(tasks, start=1):
        axes = figure.add_subplot(space[number // _ACROSS, number % _ACROSS])
        _accuracies(axes, records, task, looks)
        axes.set_title(f"({chr(ord('a') + number)}) {TASKS.get(study.tasks[task].source, task)}")
    handles = [Line2D([], [], **_line(looks[run.id]), label=names[run.id] + _fate(records, run)) for run in known]
    for placement in dict.fromkeys(point.placement for point in points):
        label = f"the paper's {PLACEMENTS[placement]} (read off; its unit is not stated)"
        handles.append(Line2D([], [], **_PAPER, linestyle=line(placement), label=label))
    below = figure.add_subplot(space[-1, :])
    below.set_axis_off()
    below.legend(handles=handles, loc="center", ncols=2, frameon=False, handlelength=2.8)
    note = records.progress
    if records.loss is not None:
        note += f"\nDotted in (a): {records.loss:.3f} bits, and below it the update at which each run reaches that."
    if tasks:
        note += (
            "\nAccuracy: mean over the fine-tuning seeds with its 95% interval, at the grid point that is best on dev; "
            "dotted: always the more frequent label."
        )
    figure.supxlabel(note, fontsize=6.5, color="0.3")
    return figure


def _losses(
    axes: Axes,
    records: Records,
    known: Sequence[PretrainingRun],
    looks: dict[str, dict[str, Any]],
    points: Sequence[paper.Point],
) -> None:
    """The validation loss of each run; dotted, the loss that they are timed to."""
    axes.set(title="(a) Validation loss", xlabel="Update", ylabel="Masked-LM loss (bits/token)")
    if records.curves.empty:
        say_empty(axes, "no finished runs")
        return
    for placement in dict.fromkeys(point.placement for point in points):
        mine = [point for point in points if point.placement == placement]
        read = [point for point in mine if not point.relation]
        axes.plot([p.updates for p in read], [p.valid_loss for p in read], **_PAPER, linestyle=line(placement))
        for point in mine:
            # An arrow up where the figure was only seen to be above.
            if point.relation == "above":
                axes.plot(point.updates, point.valid_loss, **{**_PAPER, "marker": "$\\uparrow$", "markersize": 5})
    # A loss above that of guessing every piece alike has exploded.
    ceiling = max(math.log2(run.text.vocabulary) for run in known)
    # Pre-LN above the others: the paper compares them with it.
    in_order = sorted(known, key=lambda run: run.settings.placement == "pre")
    for run in in_order:
        curve = records.curves[records.curves["run"] == run.id]
        shown = curve[curve["valid_loss"] <= ceiling]
        # A gap where a validation was above it.
        axes.plot(curve["updates"], curve["valid_loss"].where(curve["valid_loss"] <= ceiling), **_line(looks[run.id]))
        if records.metrics[run.id]["status"] == "diverged":
            at = records.metrics[run.id]["diverged"]["update"]
            height = shown["valid_loss"].iloc[-1] if len(shown) else axes.get_ylim()[1]
            axes.plot(at, height, marker="x", color=looks[run.id]["color"], markersize=6, clip_on=False, zorder=4)
    if records.loss is not None:
        axes.axhline(records.loss, color="0.3", linestyle=":", linewidth=0.8, zorder=2)
        for run in in_order:
            update = reached(records.curves[records.curves["run"] == run.id], records.loss)
            if not math.isnan(update):
                axes.axvline(update, ymax=0.04, color=looks[run.id]["color"], linewidth=1.4, zorder=2)


def _accuracies(axes: Axes, records: Records, task: str, looks: dict[str, dict[str, Any]]) -> None:
    """The accuracy of each run's fine-tuned checkpoints; dotted, the rate of the more frequent label."""
    axes.set(xlabel="Pre-training update", ylabel="Accuracy on dev (%)")
    rows = []
    for job in records.jobs:
        best = chosen(scores_of(records, job))
        if job.task_name == task and best is not None:
            rows.append((job.run.id, job.update, best.accuracy))
    if not rows:
        say_empty(axes, "not fine-tuned")
        return
    for run in dict.fromkeys(run for run, _, _ in rows):
        mine = [(update, accuracy) for found, update, accuracy in rows if found == run]
        updates = [update for update, _ in mine]
        means, lows, highs = ([100 * getattr(accuracy, end) for _, accuracy in mine] for end in ("mean", "low", "high"))
        axes.plot(updates, means, **_line(looks[run]), zorder=3)
        # A band has no width where there is one checkpoint.
        axes.vlines(updates, lows, highs, color=looks[run]["color"], linewidth=0.7, zorder=2)
        axes.fill_between(updates, lows, highs, color=looks[run]["color"], alpha=0.18, linewidth=0)
    axes.axhline(100 * records.majority[task], color="0.3", linestyle=":", linewidth=0.8, zorder=2)


def names_of(runs: Sequence[PretrainingRun]) -> dict[str, str]:
    """What the legend calls each run: placement, rate and warm-up, and whatever else differs between the runs."""
    told = {"text", "placement", "learning_rate", "warmup", "seed"}
    fields = [key for key in PretrainingSettings.model_fields if key not in told]
    differing = [key for key in fields if len({getattr(run.settings, key) for run in runs}) > 1]
    names = {}
    for run in runs:
        warmup = f"warm-up {run.settings.warmup}" if run.settings.warmup > 1 else "no warm-up"
        parts = [PLACEMENTS[run.settings.placement], f"lr {short(run.settings.learning_rate)}", warmup]
        parts += [f"{key.replace('_', ' ')} {short(getattr(run.settings, key))}" for key in differing]
        if len({run.settings.seed for run in runs}) > 1:
            parts.append(f"seed {run.settings.seed}")
        names[run.id] = ", ".join(parts)
    return names


def _looks(runs: Sequence[PretrainingRun]) -> dict[str, dict[str, Any]]:
    """Colour and line by placement, marker by what else the settings are; seeds look alike."""
    looks: dict[str, dict[str, Any]] = {}
    for run in runs:
        placement = run.settings.placement
        alike = list(dict.fromkeys(series(one.settings) for one in runs if one.settings.placement == placement))
        marker = _MARKERS[alike.index(series(run.settings)) % len(_MARKERS)]
        looks[run.id] = {"color": PLACEMENT_COLOURS[placement], "linestyle": line(placement), "marker": marker}
    return looks


def _line(look: dict[str, Any]) -> dict[str, Any]:
    hollow = {} if look["marker"] == _MARKERS[0] else {"markerfacecolor": "white"}
    return {**look, **hollow, "linewidth": 1.1, "markersize": 3}


def _fate(records: Records, run: PretrainingRun) -> str:
    """What the legend says of a run that diverged."""
    metrics = records.metrics[run.id]
    return f" (×: diverged at update {metrics['diverged']['update']})" if metrics["diverged"] else ""
