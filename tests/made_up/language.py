"""Records of language models, made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study
from preln.language.runs import LanguageRun
from preln.records.files import write_json, write_sealed

BASELINE = 7.15
"""The loss of the unigram baseline."""


def recorded(
    study: Study, run: LanguageRun, results: Path, losses: Sequence[float], diverged: Mapping[str, Any] | None = None
) -> None:
    """A run with the losses of its validations, which finished or diverged."""
    folder = results / study.study / run.folder
    folder.mkdir(parents=True)
    updates = [run.settings.validate_every * number for number in range(1, len(losses) + 1)]
    rows: dict[str, Any] = {"updates": updates, "valid_loss": losses, "train_loss": losses}
    rows |= {"learning_rate": 1e-3, "gradient_norm": 1.0, "tokens_per_second": 1000.0, "seconds": 2.0}
    pd.DataFrame(rows).to_csv(folder / "curve.csv", index=False)
    metrics = {
        **{"id": run.id, "status": "diverged" if diverged else "finished", "diverged": diverged},
        **{"updates": updates[-1], "parameters": 5000, "unigram_baseline": BASELINE, "seconds": 8.0},
        **{"final": {"valid_loss": losses[-1]}, "best": {"valid_loss": min(losses)}},
    }
    write_json(folder / "metrics.json", metrics)
    hardware = {"processor": "Processor 1", "cores_used": 1, "gpus": []}
    write_sealed(folder / "run.json", {"identity": run.identity, "commit": "abc", "hardware": hardware})
