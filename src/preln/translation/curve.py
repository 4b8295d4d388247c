"""A run's record as a curve with a row for each epoch, however often the training was interrupted."""

from __future__ import annotations

from typing import Any

from preln.libraries import pd
from preln.records.files import sha256
from preln.training.state import RunState

COLUMNS = [
    *("epoch", "updates", "learning_rate", "train_loss", "train_nll_loss", "gradient_norm"),
    *("valid_loss", "valid_nll_loss", "test_loss", "test_nll_loss"),
    *("valid_bleu", "test_bleu", "valid_sacrebleu", "test_sacrebleu", "valid_chrf", "test_chrf"),
    *("tokens_per_second", "seconds"),
]
"""Columns of curve.csv. Losses are in bits a token (base 2), `loss` with label smoothing and `nll_loss` without; BLEU
and chrF are in percent. The learning rate is that of the update after the epoch, as fairseq logs it; the gradient norm
is the mean before clipping; the last two are times and differ between machines."""

ADDED = frozenset({"valid_chrf", "test_chrf"})
"""Columns that older records lack."""


def read_epochs(state: RunState) -> dict[int, dict[str, Any]]:
    """The newest values in a run's record by epoch, for complete epochs: a curve's columns, and the values about their
    computation for metrics.json.

    An epoch that a killed process left unfinished is skipped; it is trained and recorded again.
    """
    epochs: dict[int, dict[str, Any]] = {}
    for entry in state.entries():
        epoch, part = entry.pop("epoch"), entry.pop("part")
        prefix = "" if part == "train" else f"{part}_"
        for key, value in entry.items():
            name = f"train_{key}" if part == "train" and key in ("loss", "nll_loss") else f"{prefix}{key}"
            epochs.setdefault(epoch, {})[name] = value
    needed = set(COLUMNS) - ADDED - {"epoch"}
    return {epoch: values for epoch, values in sorted(epochs.items()) if needed <= values.keys()}


def has_translations(state: RunState, subset: str, epoch: int, values: dict[str, Any]) -> bool:
    """True if the translations after an epoch are those that were scored, by the checksum in the epoch's recorded
    `values`."""
    path = state.translations(subset, epoch)
    return path.is_file() and sha256(path) == values.get(f"{subset}_translations")


def curve(record: dict[int, dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([{"epoch": epoch, **values} for epoch, values in record.items()], columns=COLUMNS)
