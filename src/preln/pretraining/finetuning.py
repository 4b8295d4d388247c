"""Run or continue the fine-tunings of a checkpoint on a task, and write their scores.csv and run.json."""

from __future__ import annotations

import json
import logging
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from preln.config import GridPoint, Study
from preln.libraries import pd, tqdm
from preln.pretraining.runs import FinetuningJob
from preln.pretraining.training import weights_after
from preln.records import recording
from preln.records.files import read_sealed, replaced
from preln.training import prepared_text
from preln.training.machine import claim
from preln.training.state import RunState

COLUMNS = ["batch_size", "learning_rate", "epochs", "seed", "accuracy", "f1"]
"""Columns of scores.csv, with a row for each fine-tuning. Accuracy on dev and F1 of label 1 are fractions; both are
empty if the fine-tuning diverged."""


def finetune(study: Study, job: FinetuningJob, prepared: Path, task: Path, runs: Path, folder: Path) -> None:
    """Fine-tune a checkpoint at every point of the grid, with every seed, and write the scores to `folder`. The other
    folders are those of the text of the pre-training, of the prepared task, and of the study's pre-training runs.

    Recorded fine-tunings are not repeated. A checkpoint that a diverged run never reached has no scores.

    Raises:
        PrelnError: if the weights are missing, or the study cannot be computed on this machine.
    """
    # Importing the tasks takes seconds, which the report should not wait for.
    from preln.corpora.tasks import PARTS, SIDES

    prepared_text.require_task(prepared, task)
    record = json.loads((task / "pieces" / "task.json").read_text(encoding="utf-8"))
    weights = weights_after(job.update, job.run, prepared, runs / job.run.id).of_run()
    pairs = [task / "pieces" / f"{part}.{side}" for part in PARTS for side in SIDES]
    content = [*pairs, *([weights] if weights else [])]
    state = RunState.of(job.origin, content, folder)
    with state.exclusive():
        state.mend_lines()
        claim(job.execution)
        scores, seeds = _scores(state), range(1, job.seeds + 1)
        wanted = {(*point.model_dump().values(), seed): (point, seed) for point in job.points for seed in seeds}
        missing = [key for key in wanted if key not in scores]
        if not state.attempts() or (weights and missing):
            state.begin(job.execution, finetunings_before=len(scores))
        if weights:
            done, total = len(wanted) - len(missing), len(wanted)
            for key in tqdm.tqdm(missing, job.id, total, initial=done, unit=" fine-tunings", mininterval=5):
                (point, seed), started = wanted[key], time.perf_counter()
                score = _finetuned(job, point, seed, record["parts"]["train"]["pairs"], weights, task / "binary")
                seconds = round(time.perf_counter() - started, 1)
                state.add({**point.model_dump(), "seed": seed, **score, "seconds": seconds})
        scores = _scores(state)
        rows = [scores[key] for key in wanted if key in scores]
        with replaced(folder / "scores.csv") as table:
            pd.DataFrame(rows, columns=COLUMNS).to_csv(table, index=False)
        origin = {
            **state.origin(study, job.id, job.identity),
            "status": "finished" if weights else "not reached",
            "task": record,
            "seconds": round(sum(row["seconds"] for row in rows), 1),
        }
        recording.write(folder, origin, ["scores.csv"])


def _finetuned(
    job: FinetuningJob, point: GridPoint, seed: int, pairs: int, weights: Path, binary: Path
) -> dict[str, Any]:
    """Accuracy and F1 of one fine-tuning; None if it diverged."""
    from preln.fairseq_plugin import launch, options
    from preln.fairseq_plugin.sentence_prediction import SCORES

    updates = point.epochs * math.ceil(pairs / point.batch_size)
    # fairseq would log each fine-tuning's whole configuration and model.
    logging.disable(logging.INFO)
    try:
        with tempfile.TemporaryDirectory() as name:
            state, settings = RunState(Path(name)), job.run.settings
            arguments = options.finetuning(settings, point, seed, updates, weights, binary, state.folder, job.execution)
            launch.train(arguments, settings.precision, state, job.execution)
            if state.divergence():
                return {"accuracy": None, "f1": None}
            scores = read_sealed(state.folder / SCORES)
    finally:
        logging.disable(logging.NOTSET)
    return {"accuracy": scores["accuracy"], "f1": scores["f1"]}


def _scores(state: RunState) -> dict[Any, dict[str, Any]]:
    """The recorded rows, in order, by grid point and seed."""
    return {(*(row[key] for key in GridPoint.model_fields), row["seed"]): row for row in state.entries()}
