"""Figure 5: BERT's validation loss by update, and the accuracy of its fine-tuned checkpoints (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.jobs.runs import series
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.pretraining.report.labels import names_with_seeds
from preln.pretraining.report.records import SOURCE, Records, chosen, reached, scores_of
from preln.pretraining.runs import PretrainingRun
from preln.report.core.curves import Curves, means
from preln.report.core.figure import Figure, NothingDone
from preln.report.core.labels import TASKS
from preln.report.core.style import NOTE, PLACEMENT_COLOURS, TEXT_WIDTH, legend_below, line
from preln.report.reference import bert as paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_PANEL_HEIGHT = 2.0  # inches
_LINE_HEIGHT = 0.16
_ACROSS = 3
_MARKERS = ["o", "s", "^", "v", "D", "P"]
_PAPER: dict[str, Any] = {"color": "0.55", "linewidth": 0.7, "marker": "D", "markersize": 2.4, "zorder": 1}


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records: one panel of losses, and one of accuracies for each task that is fine-tuned."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

    looks = _looks(records.runs)
    names = names_with_seeds(records.runs)
    known = [run for run in records.runs if run.id in records.metrics]
    points = [
        point for point in paper.load() if study.paper_settings and any(point.is_of(run.settings) for run in known)
    ]
    tasks = _accuracies_of(study, records)
    count = len(tasks) + bool(known)
    if not count:
        raise NothingDone
    rows, columns = math.ceil(count / _ACROSS), min(count, _ACROSS)
    entries = len(known) + len({point.placement for point in points})
    legend = _LINE_HEIGHT * (math.ceil(entries / 2) + 1)
    figure = Drawing(figsize=(TEXT_WIDTH, _PANEL_HEIGHT * rows + legend + 4 * _LINE_HEIGHT), layout="constrained")
    space = figure.add_gridspec(rows + 1, columns, height_ratios=[*([_PANEL_HEIGHT] * rows), legend])
    if known:
        _losses(figure.add_subplot(space[0, 0]), records, known, looks, points)
    for number, (title, task, found) in enumerate(tasks, start=bool(known)):
        axes = figure.add_subplot(space[number // _ACROSS, number % _ACROSS])
        axes.set_title(title)
        _accuracies(axes, found, looks)
        axes.axhline(100 * records.majority[task], color="0.3", linestyle=":", linewidth=0.8, zorder=2)
    handles = [Line2D([], [], **_line(looks[run.id]), label=names[run.id] + _fate(records, run)) for run in known]
    for placement in dict.fromkeys(point.placement for point in points):
        label = f"the paper's {PLACEMENTS[placement].label} (read off; its unit is not stated)"
        handles.append(Line2D([], [], **_PAPER, linestyle=line(placement), label=label))
    legend_below(figure, space[-1, :], handles, loc="center", ncols=2, handlelength=2.8)
    note = records.progress
    if records.loss is not None:
        note += f"\nDotted in (a): {records.loss:.3f} bits, and below it the update at which each run reaches that."
    if tasks:
        note += (
            "\nAccuracy: mean over the fine-tuning seeds with its 95% interval, at the grid point that is best on dev; "
            "dotted: always the more frequent label."
        )
    figure.supxlabel(note, **NOTE)
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


def _accuracies_of(study: Study, records: Records) -> list[tuple[str, str, pd.DataFrame]]:
    """For each task that is fine-tuned its title and name, and a row a checkpoint: `run`, `update`, and in percent
    `value`, `low` and `high`, with the number of `seeds`."""
    found: dict[str, list[dict[str, Any]]] = {}
    for job in records.jobs:
        if best := chosen(scores_of(records, job)):
            accuracy = best.accuracy
            percent = {
                end: 100 * getattr(accuracy, of) for end, of in (("value", "mean"), ("low", "low"), ("high", "high"))
            }
            row = {"run": job.run.id, "update": job.update, **percent, "seeds": accuracy.n}
            found.setdefault(job.task_name, []).append(row)
    tasks = study.finetuning.tasks if study.finetuning else ()
    return [
        (f"({letter}) {TASKS.get(study.tasks[task].source, task)}", task, pd.DataFrame(found[task]))
        for letter, task in zip(ascii_lowercase[1:], tasks, strict=False)
        if task in found
    ]


def _accuracies(axes: Axes, found: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> None:
    """The accuracy of each run's fine-tuned checkpoints."""
    axes.set(xlabel="Pre-training update", ylabel="Accuracy on dev (%)")
    for run, mine in found.groupby("run", sort=False):
        colour = looks[str(run)]["color"]
        axes.plot(mine["update"], mine["value"], **_line(looks[str(run)]), zorder=3)
        # A band has no width where there is one checkpoint.
        axes.vlines(mine["update"], mine["low"], mine["high"], color=colour, linewidth=0.7, zorder=2)
        axes.fill_between(mine["update"], mine["low"], mine["high"], color=colour, alpha=0.18, linewidth=0)


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers."""
    names = names_with_seeds(records.runs)
    found = []
    if len(records.curves):
        losses = records.curves.assign(
            curve=records.curves["run"].map(names), value=records.curves["valid_loss"], update=records.curves["updates"]
        )
        axis = "Masked-LM loss (bits/token)"
        found.append(Curves("(a) Validation loss", "update", "Update", axis, means(losses, "update"), pd.DataFrame()))
    for title, task, rows in _accuracies_of(study, records):
        table = rows.assign(curve=rows["run"].map(names))[["curve", "update", "value", "low", "high", "seeds"]]
        always = {"curve": "always the more frequent label", "value": 100 * records.majority[task]}
        reference = pd.DataFrame([{**always, "update": update} for update in sorted(set(rows["update"]))])
        found.append(Curves(title, "update", "Pre-training update", "Accuracy on dev (%)", table, reference))
    return found


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


FIGURE = Figure(
    name="5",
    title="BERT: pre-training, and fine-tuning on the way (section 4.2)",
    caption="BERT, with and without warm-up. (a) is the validation loss of masked language models by update. "
    "Unbroken lines are Post-LN, and dashed lines Pre-LN. Dotted is the loss that the runs are timed to, and "
    "a tick at the bottom marks where each reaches it. A cross ends a run that diverged. The other panels "
    "are the accuracy on dev of fine-tuned checkpoints by pre-training update: the mean over the "
    "fine-tuning seeds with its 95% interval, at the point of the grid that is best on dev. Dotted there is the "
    "share of the more frequent label.\n\n"
    "The paper (section 4) states that a Pre-LN BERT without warm-up reaches a validation loss of 1.69 at "
    "update 500,000, and Post-LN with warm-up at 700,000 (its sentence has the two names exchanged), a "
    "speed-up of 40%; and that MRPC and RTE are learned faster too.",
    source=SOURCE,
    compose=compose,
    curves=curves,
)
