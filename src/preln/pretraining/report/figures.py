"""The figures of BERT: a study's own pre-training runs, whatever their settings; and figure 5, the validation loss by
update, and the accuracy of the fine-tuned checkpoints (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

from preln.config import Study
from preln.jobs.grid import series
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.pretraining.report.records import SOURCE, Records, chosen, reached, scores_of
from preln.pretraining.runs import PretrainingRun
from preln.report.core import curve_figure, looks
from preln.report.core.curve_figure import Curve, Panel, Reference, curves_of, shared
from preln.report.core.curves import INTERVAL
from preln.report.core.labels import TASKS, names
from preln.report.core.looks import Look
from preln.report.core.validated import ALWAYS
from preln.report.reference import bert as paper

AXIS = "Masked-LM loss (bits/token)"
_PAPER: dict[str, Any] = {"color": "0.55", "linewidth": 0.7, "marker": "D", "markersize": 2.4, "zorder": 1}
_ACROSS = 3


def baseline(runs: Sequence[PretrainingRun]) -> tuple[float, str]:
    """The loss of a uniform guess; records of BERT are without that of a unigram model."""
    return max(math.log2(run.text.vocabulary) for run in runs), "uniform guess"


def _runs(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    return records.drawn(study, AXIS, lambda run: run.settings.text, baseline)


def _drawn(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    """One panel of losses, and one of accuracies for each task that is fine-tuned; and what the dotted lines are."""
    settings = [series(run.settings) for run in records.runs]
    look, (called, common) = looks.of_runs(settings), names(settings, ALWAYS)
    done = [run for run in records.runs if run.id in records.metrics]
    drawn = []
    if done:
        runs = {run: records.trained(run) for run in records.runs}
        loss, ticks = records.loss, []
        for run in done:
            points = runs[run].points
            if loss is not None and points is not None and not math.isnan(update := reached(points, loss)):
                ticks.append((update, look[series(run.settings)]["color"]))
        drawn.append(
            Panel(
                "(a) Validation loss",
                AXIS,
                curves_of(list(runs.values()), "valid_loss", called, look),
                references=_references(study, done),
                baseline=baseline(done),
                levels=() if loss is None else (loss,),
                ticks=tuple(ticks),
            )
        )
    tasks = study.finetuning.tasks if study.finetuning else ()
    for letter, task in zip(ascii_lowercase[1:], tasks, strict=False):
        if accuracies := _accuracies(records, task, called, look):
            drawn.append(
                Panel(
                    f"({letter}) {TASKS.get(study.tasks[task].source, task)}",
                    "Accuracy on dev (%)",
                    accuracies,
                    x_title="Pre-training update",
                    levels=(100 * records.majority[task],),
                    ends=INTERVAL,
                )
            )
    note = [records.progress, shared(common)]
    if records.loss is not None:
        note.append(f"Dotted in (a): {records.loss:.3f} bits, and below it the update at which each run reaches that.")
    if any(panel.ends == INTERVAL for panel in drawn):
        note.append(
            "Accuracy: mean over the fine-tuning seeds with its 95% interval, at the grid point that is best on dev; "
            "dotted: always the more frequent label."
        )
    grid = [drawn[start : start + _ACROSS] for start in range(0, len(drawn), _ACROSS)]
    return grid, " ".join(filter(None, note))


def _references(study: Study, runs: Sequence[PretrainingRun]) -> tuple[Reference, ...]:
    """The paper's curves of runs with its settings; an arrow up where a curve was only seen to be above a value."""
    if not study.paper_settings:
        return ()
    points = [point for point in paper.load() if any(point.is_of(run.settings) for run in runs)]
    references = []
    for placement in dict.fromkeys(point.placement for point in points):
        curve = [point for point in points if point.placement == placement]
        name = f"paper: {PLACEMENTS[placement].label} (read off; its unit is not stated)"
        read = tuple((float(point.updates), point.valid_loss) for point in curve if not point.relation)
        references.append(Reference(name, read, {**_PAPER, "linestyle": PLACEMENTS[placement].line}))
        above = tuple((float(point.updates), point.valid_loss) for point in curve if point.relation == "above")
        arrow = {**_PAPER, "linestyle": "none", "marker": "$\\uparrow$", "markersize": 5}
        references.append(Reference("", above, arrow))
    return tuple(references)


def _accuracies(records: Records, task: str, called: dict[Any, str], look: dict[Any, Look]) -> tuple[Curve, ...]:
    """The accuracy in percent of each run's checkpoints that are fine-tuned on a task, with the seed of the run where
    there are several."""
    several = len({run.settings.seed for run in records.runs}) > 1
    rows: dict[PretrainingRun, list[tuple[float, float, float, float, int]]] = {}
    for job in records.jobs:
        if job.task_name == task and (best := chosen(scores_of(records, job))):
            mean, low, high = (100 * value for value in (best.accuracy.mean, best.accuracy.low, best.accuracy.high))
            rows.setdefault(job.run, []).append((job.update, mean, low, high, best.accuracy.n))
    curves = []
    for run, points in rows.items():
        key = series(run.settings)
        name = f"{called[key]}, seed {run.settings.seed}" if several else called[key]
        table = pd.DataFrame(points, columns=["x", "value", "low", "high", "seeds"])
        curves.append(Curve(name, key, look[key], table))
    return tuple(curves)


RUNS = curve_figure.figure(
    _runs,
    name="pretraining",
    title="The study's own pre-training runs",
    caption="Every pre-training run of the study: the validation loss of its masked language model, by update. The "
    "line tells the placement. Several seeds are a mean line, with a band from the lowest to the highest. A run that "
    "diverged is a thin line, and a cross on the edge at the update at which it did. Losses far above a uniform guess "
    "are drawn at the upper edge.",
    source=SOURCE,
    # Without the fine-tunings.
    of=lambda study, jobs: [job for job in jobs if isinstance(job, PretrainingRun)],
)
FIGURE_5 = curve_figure.figure(
    _drawn,
    name="5",
    title="BERT: pre-training, and fine-tuning on the way (section 4.2)",
    caption="BERT, with and without warm-up. (a) is the validation loss of masked language models by update. "
    "Unbroken lines are Post-LN, and dashed lines Pre-LN. Dotted is the loss that the runs are timed to, and "
    "a tick at the bottom marks where each reaches it. A cross at the upper edge is a run that diverged. The others "
    "are the accuracy on dev of fine-tuned checkpoints by pre-training update: the mean over the "
    "fine-tuning seeds with its 95% interval, at the point of the grid that is best on dev. Dotted there is the "
    "share of the more frequent label.\n\n"
    "The paper (section 4) states that a Pre-LN BERT without warm-up reaches a validation loss of 1.69 at "
    "update 500,000, and Post-LN with warm-up at 700,000 (its sentence has the two names exchanged), a "
    "speed-up of 40%; and that MRPC and RTE are learned faster too.",
    source=SOURCE,
)
