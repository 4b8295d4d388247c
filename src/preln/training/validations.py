"""A training that is validated every so many updates: its record as a curve with a row for each validation, however
often the training was interrupted."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.config import LanguageSettings, PretrainingSettings, Study
from preln.libraries import pd
from preln.records import recording
from preln.training import prepared_text, records
from preln.training.state import RunState

if TYPE_CHECKING:
    from preln.language.runs import LanguageRun
    from preln.pretraining.runs import PretrainingRun

COLUMNS = ["updates", "learning_rate", "train_loss", "valid_loss", "gradient_norm", "tokens_per_second", "seconds"]
"""Columns of curve.csv. Losses are in bits a token (base 2), with BERT a masked token; the training loss is the mean
since the previous row; the gradient norm is the last update's, before clipping; the last two are times and differ
between machines."""


def read_validations(state: RunState) -> dict[int, dict[str, Any]]:
    """The newest values in a run's record by number of updates."""
    rows = {entry["updates"]: entry for entry in state.entries()}
    return dict(sorted(rows.items()))


def recorded_updates(settings: PretrainingSettings | LanguageSettings, state: RunState) -> int:
    """The update up to which a state's record is complete."""
    record, every = read_validations(state), settings.validate_every
    return next(update for update in itertools.count(step=every) if update + every not in record)


def write_records(
    study: Study, run: PretrainingRun | LanguageRun, prepared: Path, state: RunState, **values: float
) -> None:
    """Write run.json, curve.csv and metrics.json from the state of a finished training; `values` are further results.

    Raises:
        PrelnError: if a validation is missing from its record.
    """
    record, diverged, every = read_validations(state), state.divergence(), run.settings.validate_every
    if not diverged:
        state.require_recorded("updates", range(every, run.settings.updates + 1, every), record)
    rows = pd.DataFrame(list(record.values()), columns=COLUMNS)
    parameters = record[max(record)]["parameters"] if record else None
    origin = {**state.origin(study, run.id, run.identity), "text": prepared_text.record(prepared)}
    results = records.metrics(run.id, recording.rows(rows), parameters, diverged)
    records.write(state, origin, rows, {**results, **values})
