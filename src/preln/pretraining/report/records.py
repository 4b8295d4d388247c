"""The records of a study's pre-training runs and fine-tunings as tidy frames: settings from the study, numbers from
the folders. A run counts as done when its folder holds metrics.json, a fine-tuning when its folder holds run.json."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from preln.config import GridPoint, Study
from preln.libraries import np, pd
from preln.pretraining import finetuning
from preln.pretraining.runs import FinetuningJob, PretrainingRun, expand, finetunings
from preln.report.core.entries import Source
from preln.report.core.records import done, having, origin_lines, table
from preln.report.core.statistics import Estimate, estimate, mean
from preln.report.core.validated import Validated, read

POINT = list(GridPoint.model_fields)
"""The columns of a grid point."""


@dataclass(frozen=True)
class Records(Validated[PretrainingRun]):
    """The records of a study's BERT: the runs, and their fine-tunings.

    Attributes:
        scores: a row a fine-tuning that did not diverge: `finetuning`, `run`, `update`, `task`, and the columns of
            scores.csv.
        majority: the share of the more frequent label in the dev of each task.
        jobs: the fine-tunings, whether they are done or not.
        done: ids of those that are done.
        loss: the validation loss, in bits a token, that the runs are timed to; None where the first run has none.
    """

    scores: pd.DataFrame
    majority: dict[str, float]
    jobs: tuple[FinetuningJob, ...]
    done: frozenset[str]
    loss: float | None


@dataclass(frozen=True)
class Score:
    """The scores of one grid point over the seeds: accuracy and F1 on dev, as fractions."""

    point: GridPoint
    accuracy: Estimate
    f1: float


def load(study: Study, shown: Sequence[PretrainingRun | FinetuningJob], results: Path) -> Records:
    """The records of what is done of some runs and fine-tunings; `results` is the folder of the results of all studies.
    It raises what `done` raises."""
    runs = [job for job in shown if isinstance(job, PretrainingRun)]
    jobs = [job for job in shown if isinstance(job, FinetuningJob)]
    curves, metrics, origins = read(study, runs, results)
    scores, majority, finetuned = [], {}, set()
    for job, folder, record in done(study, jobs, results):
        origins.append(record)
        finetuned.add(job.id)
        dev = record["task"]["parts"]["dev"]
        majority[job.task_name] = max(dev["positive"], dev["pairs"] - dev["positive"]) / dev["pairs"]
        scored = table(folder / "scores.csv", finetuning.COLUMNS)[finetuning.COLUMNS].dropna(subset=["accuracy"])
        scores.append(scored.assign(finetuning=job.id, run=job.run.id, update=job.update, task=job.task_name))
    columns = [*finetuning.COLUMNS, "finetuning", "run", "update", "task"]
    progress = f"Study {study.study}: {len(metrics)} of {len(runs)} pre-training runs"
    progress += f" and {len(finetuned)} of {len(jobs)} fine-tuned checkpoints are done." if jobs else " are done."
    return Records(
        tuple(runs),
        curves,
        metrics,
        progress,
        origin_lines(origins),
        pd.concat(scores, ignore_index=True) if scores else pd.DataFrame(columns=columns),
        majority,
        tuple(jobs),
        frozenset(finetuned),
        _timed_to(study, runs, curves),
    )


def reached(curve: pd.DataFrame, loss: float) -> float:
    """The update at which a run's validation loss first is at `loss`, in bits a token, on a straight line between two
    of the validations in `curve`, which has the columns `updates` and `valid_loss`; NaN if it never is."""
    reached = curve[curve["valid_loss"] <= loss]
    if reached.empty:
        return math.nan
    after = reached.iloc[0]
    before = curve[curve["updates"] < after["updates"]]
    if before.empty:
        return float(after["updates"])
    last = before.iloc[-1]
    share = (last["valid_loss"] - loss) / (last["valid_loss"] - after["valid_loss"])
    return float(last["updates"] + share * (after["updates"] - last["updates"]))


def scores_of(records: Records, job: FinetuningJob) -> list[Score]:
    """The scores of each grid point of a fine-tuned checkpoint, in the order of the grid; a point of which a seed
    diverged or is missing has none."""
    by_point = dict(iter(having(records.scores, finetuning=job.id).groupby(POINT)))
    scores = []
    for point in job.points:
        group = by_point.get((point.batch_size, point.learning_rate, point.epochs))
        if group is not None and len(group) == job.seeds:
            scores.append(Score(point, estimate(group["accuracy"].tolist()), mean(group["f1"])))
    return scores


def chosen(scores: Sequence[Score]) -> Score | None:
    """The scores of the point with the highest mean accuracy on dev, as the paper chooses (appendix A.3); of equal ones
    the first."""
    return max(scores, key=lambda score: score.accuracy.mean, default=None)


def accuracies(records: Records, job: FinetuningJob, point: GridPoint) -> dict[int, float]:
    """The accuracy on dev of each seed at one point of the grid."""
    rows = having(records.scores, finetuning=job.id, **point.model_dump())
    return dict(zip(rows["seed"], rows["accuracy"], strict=True))


def fixed(scores: Sequence[Score], job: FinetuningJob) -> Score | None:
    """The scores of the point that the study names beforehand."""
    return next((score for score in scores if score.point == job.fixed), None)


def _timed_to(study: Study, runs: Sequence[PretrainingRun], curves: pd.DataFrame) -> float | None:
    """The loss that the runs are timed to. Not the first run's last: where the rate goes to zero the curve is flat, and
    the update at which it is reached means little."""
    if study.pretraining and study.pretraining.loss:
        return study.pretraining.loss
    first = having(curves, run=runs[0].id) if runs else curves
    half = runs[0].settings.updates / 2 if runs else 0
    if first.empty or not first["updates"].min() <= half <= first["updates"].max():
        # It diverged before, or was validated at its end alone.
        return None
    return float(np.interp(half, first["updates"], first["valid_loss"]))


def _jobs(study: Study) -> list[PretrainingRun | FinetuningJob]:
    return [*expand(study), *finetunings(study)]


SOURCE = Source(_jobs, load)
