"""BERT as tables: the pre-training runs, with when each reaches a loss, and the fine-tuned checkpoints."""

from __future__ import annotations

import math
from typing import Any

from preln.config import Study
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.pretraining.report.records import SOURCE, Records, Score, chosen, fixed, reached, scores_of
from preln.pretraining.runs import PretrainingRun
from preln.report.core.entries import Table
from preln.report.core.forms import MISSING, Content, rounded
from preln.report.core.statistics import plus_minus
from preln.report.reference import bert as paper
from preln.values import short

_ALWAYS = ("placement", "learning_rate", "warmup", "updates", "seed")
_DEV = ["accuracy", "accuracy_low", "accuracy_high", "f1"]


def pretraining(records: Records) -> pd.DataFrame:
    """A row for each run that is done, as `Validated.table`, with the update at which it reaches the loss that the runs
    are timed to, and the speed-up over the first run."""

    def timed(curve: pd.DataFrame) -> float:
        return reached(curve, records.loss) if records.loss is not None else math.nan

    first = timed(records.curve(records.runs[0]))

    def own(run: PretrainingRun, curve: pd.DataFrame) -> dict[str, Any]:
        update = timed(curve)
        return {"loss": records.loss, "reached_update": update, "speedup": first / update}

    return records.table(_ALWAYS, own)


def finetuning(records: Records) -> pd.DataFrame:
    """A row for each fine-tuned checkpoint, in full precision: scores on dev, as fractions, at the grid point that is
    best there and at the one that the study names beforehand."""
    rows: list[dict[str, Any]] = []
    for job in records.jobs:
        if job.id not in records.done:
            continue
        scores = scores_of(records, job)
        rows.append(
            {
                "task": job.task_name,
                "run": job.run.id,
                "update": job.update,
                **_of("chosen", chosen(scores)),
                **_of("fixed", fixed(scores, job)),
                "majority": records.majority[job.task_name],
                "grid_points": len(job.points),
                "points_scored": len(scores),
            }
        )
    return pd.DataFrame(rows)


def _of(kind: str, score: Score | None) -> dict[str, Any]:
    columns = dict.fromkeys(["batch_size", "learning_rate", "epochs", *_DEV, "seeds"])
    if score is not None:
        accuracy = score.accuracy
        numbers = zip(_DEV, (accuracy.mean, accuracy.low, accuracy.high, score.f1), strict=True)
        columns = {**score.point.model_dump(), **dict(numbers), "seeds": accuracy.n}
    return {f"{kind}_{name}": value for name, value in columns.items()}


def _own_text(row: dict[Any, Any]) -> dict[str, str]:
    return {
        f"Reaches {rounded(row['loss'], 3)} at": rounded(row["reached_update"], 0),
        "Speed-up": rounded(row["speedup"], 2),
    }


def _readable_finetuning(table: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for row in table.to_dict("records"):
        rows.append(
            {
                "Task": row["task"],
                "Run": row["run"],
                "Update": str(row["update"]),
                "Accuracy (%)": _interval(row, "chosen"),
                "F1 (%)": rounded(100 * row["chosen_f1"], 1) if pd.notna(row["chosen_f1"]) else MISSING,
                "Chosen point": _point(row, "chosen"),
                "Accuracy, fixed point (%)": _interval(row, "fixed"),
                "Majority (%)": rounded(100 * row["majority"], 1),
            }
        )
    return pd.DataFrame(rows)


def _interval(row: dict[Any, Any], kind: str) -> str:
    mean = row[f"{kind}_accuracy"]
    if pd.isna(mean):
        return MISSING
    return plus_minus(100 * mean, 100 * (row[f"{kind}_accuracy_high"] - mean), ".1f", ".1f")


def _point(row: dict[Any, Any], kind: str) -> str:
    if pd.isna(row[f"{kind}_batch_size"]):
        return MISSING
    rate = short(float(row[f"{kind}_learning_rate"]))
    return f"batch {row[f'{kind}_batch_size']:.0f}, lr {rate}, {row[f'{kind}_epochs']:.0f} epochs"


def make_pretraining(study: Study, records: Records) -> Content:
    """The table of the pre-training runs."""
    table = pretraining(records)
    notes = [
        "Losses are masked-LM losses in bits a masked token. The speed-up is how many updates the first run needs "
        "to the loss that a column names, divided by how many the run needs."
    ]
    if study.pretraining and study.pretraining.loss is None:
        notes.append("That loss is the first run's after half of its updates.")
    if study.paper_settings:
        names = ", ".join(f"{PLACEMENTS[name].label} at update {update:,}" for name, update in paper.REACHED.items())
        notes.append(f"The paper: {paper.LOSS} is reached by {names} (its sentence has the two names exchanged).")
    columns = records.readable(table, {*_ALWAYS, "text"}, _own_text)
    return Content(table, columns, records.progress, [*notes, *records.origin])


def make_finetuning(study: Study, records: Records) -> Content:
    """The table of the fine-tuned checkpoints."""
    table = finetuning(records)
    seeds = records.jobs[0].seeds if records.jobs else 0
    done = [job for job in records.jobs if job.id in records.done]
    notes = [
        f"Means over {seeds} seeds, ± half of the 95% interval (Student's t). The chosen point is the best of the grid "
        "on dev itself, as in the paper, so that its accuracy is optimistic and its interval too narrow. The fixed "
        "point is the one that the study names beforehand. Majority is the accuracy of always saying the more frequent "
        "label. F1 is of the label 1."
    ]
    if left_out := sum(len(job.points) - len(scores_of(records, job)) for job in done):
        notes.append(f"{left_out} points of the grid had a fine-tuning that diverged, and could not be chosen.")
    return Content(table, _readable_finetuning(table), records.progress, [*notes, *records.origin])


PRETRAINING = Table(
    name="pretraining",
    title="BERT: the pre-training runs",
    caption="A row for each run that is done: how it ended, its masked-LM losses in bits a masked token, and the "
    "update at which it reaches the loss that the runs are timed to.",
    source=SOURCE,
    make=make_pretraining,
    computed=("loss", "reached_update", "speedup", "tokens_per_second"),
)
FINETUNING = Table(
    name="finetuning",
    title="BERT: the fine-tuned checkpoints",
    caption="A row for each fine-tuned checkpoint: accuracy and F1 on dev over the seeds, at the point of the grid "
    "that is best there, and at the point that the study names beforehand.",
    source=SOURCE,
    of=lambda study, jobs: jobs if study.finetuning else [],
    make=make_finetuning,
    computed=("majority", *(f"{kind}_{name}" for kind in ("chosen", "fixed") for name in _DEV)),
)
