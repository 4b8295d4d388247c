"""One pre-training: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from preln import prepared_text, recording, run_state
from preln.config import Study
from preln.files import replaced
from preln.freshness import checksums
from preln.kept import Kept
from preln.machine import claim
from preln.pretraining.curve import curve, read_validations
from preln.pretraining.runs import PretrainingRun
from preln.run_state import RECORD, RecordLost


def state_folder(run: PretrainingRun, prepared: Path, folder: Path) -> Path:
    """Where a run's state is, which depends on the text, the BPE model and the dictionary."""
    content = ["bpe/bpe.model", "binary/dict.txt"]
    identity = {**run.identity, "text": checksums(_text(prepared))}
    return run_state.state_folder(identity, [prepared / path for path in content], folder)


def recorded_updates(run: PretrainingRun, state: Path) -> int:
    """Up to which update the record of a state is whole."""
    record, every = read_validations(state / RECORD), run.settings.validate_every
    return next(update for update in itertools.count(step=every) if update + every not in record)


def kept_weights(run: PretrainingRun, update: int, prepared: Path, state: Path) -> Kept:
    """The weights of a run's checkpoint of the `update`, in its state."""
    # Importing fairseq takes seconds, which the other commands should not wait for.
    from preln.fairseq_plugin.masked_lm import weights_name

    arguments = partial(_arguments, run, [update], prepared)
    return Kept(state, weights_name(update), update, run.settings.precision, run.execution, arguments)


def _arguments(run: PretrainingRun, keep: Sequence[int], prepared: Path, state: Path) -> list[str]:
    """fairseq's options of the run, for a state."""
    from preln.fairseq_plugin import options

    return options.pretraining(run.settings, prepared / "binary", state, keep, run.execution)


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
    prepared_text.require_english(prepared)
    state, every = state_folder(run, prepared, folder), run.settings.validate_every
    checkpoints = study.pretraining.checkpoints if study.pretraining else ()
    with run_state.exclusive(state):
        claim(run.execution)
        # Importing fairseq takes seconds, which the other commands should not wait for, and memory, which one that
        # waits for a GPU has no use for.
        from preln.fairseq_plugin import launch

        run_state.mend(
            state, "updates", lambda: recorded_updates(run, state), lambda moment: moment.update // every * every
        )
        done = recorded_updates(run, state)
        run_state.begin(state, run.execution, updates_before=done)
        for update in checkpoints:
            kept = kept_weights(run, update, prepared, state)
            if kept.path.exists():
                kept.mend()
        # fairseq would train a run that is at its end for one more update.
        if not run_state.divergence(state) and done < run.settings.updates:
            arguments = _arguments(run, checkpoints, prepared, state)
            launch.train(arguments, run.settings.precision, state, run.execution)
        write_records(study, run, prepared, state, folder)


def write_records(study: Study, run: PretrainingRun, prepared: Path, state: Path, folder: Path) -> None:
    """Write run.json, curve.csv and metrics.json from what a training that is done left in its state.

    Raises:
        RecordLost: if it has no record of one of its validations.
    """
    record = read_validations(state / RECORD)
    diverged = run_state.divergence(state)
    every = run.settings.validate_every
    if not diverged and (missing := set(range(every, run.settings.updates + 1, every)) - record.keys()):
        raise RecordLost(
            f"{state / RECORD}: updates {', '.join(map(str, sorted(missing)))} are not in it, though they are trained; "
            "run the same command, which trains them again"
        )
    rows = curve(record)
    with replaced(folder / "curve.csv") as table:
        rows.to_csv(table, index=False)
    origin = {**run_state.origin(study, run.id, run.identity, state), "text": _text(prepared)}
    recording.write(folder, origin, ["curve.csv"], metrics(run, record, rows, diverged))


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
