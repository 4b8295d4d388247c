"""A pre-training's record as a curve with a row for each validation, however often the training was interrupted."""

from __future__ import annotations

from typing import Any

from preln.libraries import pd
from preln.training.state import RunState

COLUMNS = [
    "updates",
    "learning_rate",
    "train_loss",
    "valid_loss",
    "gradient_norm",
    "tokens_per_second",
    "seconds",
]
"""Columns of curve.csv. Losses are masked-LM losses in bits a masked token (base 2); the training loss is the mean
since the previous row; the gradient norm is the last update's, before clipping; the last two are times and differ
between machines."""


def read_validations(state: RunState) -> dict[int, dict[str, Any]]:
    """The newest values in a run's record by number of updates."""
    rows = {entry["updates"]: entry for entry in state.entries()}
    return dict(sorted(rows.items()))


def curve(record: dict[int, dict[str, Any]]) -> pd.DataFrame:
    """A record's curve, in the columns of curve.csv."""
    return pd.DataFrame(list(record.values()), columns=COLUMNS)
