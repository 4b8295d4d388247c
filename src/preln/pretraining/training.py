"""One pre-training: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from preln import attempts
from preln.attempts import RecordLost
from preln.config import Study
from preln.current import checksums
from preln.files import replaced, write_json
from preln.machine import claim
from preln.pretraining.curve import curve, read_record
from preln.pretraining.runs import PretrainingRun


def state_folder(run: PretrainingRun, prepared: Path, folder: Path) -> Path:
    """Where a run's state is, which depends on the text, the BPE model and the dictionary."""
    content = ["bpe/bpe.model", "binary/dict.txt"]
    identity = {**run.identity, "text": checksums(_text(prepared))}
    return attempts.state_folder(identity, [prepared / path for path in content], folder)


def pretrain_run(study: Study, run: PretrainingRun, prepared: Path, folder: Path) -> None:
    """Train `run` on the prepared text and write its records to `folder`.

    Args:
        study: the study that the run belongs to.
        run: the run.
        prepared: folder of the prepared text, with text/, bpe/ and binary/.
        folder: the run's folder; its state/ is kept, and continued from, whatever happens.

    Raises:
        PrelnError: if the run cannot be trained on this machine, or its state cannot be continued from.
    """
    state = state_folder(run, prepared, folder)
    with attempts.exclusive(state):
        claim(run.execution)
        # Importing fairseq takes seconds, which the other commands should not wait for, and memory, which one that
        # waits for a GPU has no use for.
        from preln.fairseq_plugin import launch, options

        done = max(read_record(state / "record.jsonl"), default=0)
        attempts.begin(state, run.execution, updates_before=done)
        # fairseq would train a run that is at its end for one more update.
        if not attempts.divergence(state) and done < run.settings.updates:
            keep = study.pretraining.checkpoints if study.pretraining else ()
            arguments = options.pretraining(run.settings, prepared / "binary", state, keep, run.execution)
            launch.train(arguments, run.settings.precision, state, run.execution)
        write_records(study, run, prepared, state, folder)


def write_records(study: Study, run: PretrainingRun, prepared: Path, state: Path, folder: Path) -> None:
    """Write run.json, curve.csv and metrics.json from what a training that is done left in its state.

    Raises:
        RecordLost: if it has no record of one of its validations.
    """
    record = read_record(state / "record.jsonl")
    diverged = attempts.divergence(state)
    every = run.settings.validate_every
    if not diverged and (missing := set(range(every, run.settings.updates + 1, every)) - record.keys()):
        raise RecordLost(
            f"{state / 'record.jsonl'}: updates {', '.join(map(str, sorted(missing)))} are not in it, though they are "
            f"trained; move {state} away to train the run anew"
        )
    rows = curve(record)
    with replaced(folder / "curve.csv") as partial:
        rows.to_csv(partial, index=False)
    write_json(folder / "run.json", {**attempts.origin(study, run.id, run.identity, state), "text": _text(prepared)})
    # Last, for a run with metrics counts as done.
    write_json(folder / "metrics.json", metrics(run, record, rows, diverged))


def _text(prepared: Path) -> dict[str, Any]:
    """The record of a prepared text."""
    text: dict[str, Any] = json.loads((prepared / "text" / "text.json").read_text(encoding="utf-8"))
    return text


def metrics(
    run: PretrainingRun, record: dict[int, dict[str, Any]], rows: pd.DataFrame, diverged: dict[str, Any] | None
) -> dict[str, Any]:
    """What a run came to: its status, its last and its best validation."""
    validations = json.loads(rows.to_json(orient="records"))
    return {
        "id": run.id,
        "status": "diverged" if diverged else "finished",
        "diverged": diverged,
        "updates": validations[-1]["updates"] if validations else 0,
        "parameters": record[max(record)]["parameters"] if record else None,
        "final": validations[-1] if validations else None,
        "best": min(validations, key=lambda row: row["valid_loss"]) if validations else None,
        "seconds": round(sum(row["seconds"] for row in validations), 1),
    }
