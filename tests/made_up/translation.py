"""Runs of translation models and their records, made up."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study, validate
from preln.records.files import read_sealed, write_sealed
from preln.translation.curve import COLUMNS
from preln.translation.runs import Run, expand

POST = {"placement": "post", "optimizer": "adam", "learning_rate": 1e-3, "schedule": "inverse-sqrt"}
ADAM = {"figures": [2], **POST}
SIGNATURES = {"tokenised": "nrefs:1|tok:none", "sacrebleu": "nrefs:1|tok:13a", "chrf": "nrefs:1|nc:6"}


def small_study(*entries: dict[str, Any], **changes: Any) -> tuple[Study, list[Run]]:
    """A study on the embedded corpus and its runs: two of figure 2, unless the entries say otherwise."""
    grid = entries or ({**ADAM, "warmup": [0, 400]},)
    content = {
        "study": "small",
        "corpora": {"embedded": {"source": "embedded", "vocabulary": 1024}},
        "translation": {"settings": {"corpus": "embedded", "width": 128, "epochs": 3}, "runs": list(grid)},
    }
    study = validate({**content, **changes}, "small.yaml")
    return study, expand(study)


def recorded_study(
    results: Path, *ends: list[float] | tuple[list[float], int], grid: Sequence[dict[str, Any]] = (), **changes: Any
) -> tuple[Study, list[Run]]:
    """A study of which the first runs ended with these losses, or diverged after them in this update; and its runs."""
    study, runs = small_study(*grid, **changes)
    for run, end in zip(runs, ends, strict=False):
        losses, update = end if isinstance(end, tuple) else (end, None)
        diverged = {"update": update, "epoch": len(losses) + 1, "reason": "nan"} if update else None
        records_of(study, run, results, losses, diverged=diverged)
    return study, runs


def records_of(
    study: Study,
    run: Run,
    results: Path,
    losses: list[float],
    bleu: float = 12.3456,
    diverged: dict[str, Any] | None = None,
    **more: Any,
) -> None:
    """Write made-up records of a run with these validation losses, an epoch each, and with `more` metrics."""
    rows = [
        {name: 1.0 for name in COLUMNS}
        | {"epoch": epoch, "updates": 100 * epoch, "learning_rate": 7e-5, "valid_loss": loss}
        | {"test_bleu": bleu, "tokens_per_second": 2000.5, "seconds": 60.0}
        for epoch, loss in enumerate(losses, start=1)
    ]
    metrics = {
        "id": run.id,
        "status": "diverged" if diverged else "finished",
        "diverged": diverged,
        "epochs": len(rows),
        "updates": 100 * len(rows),
        "parameters": 1234 if rows else None,
        "final": rows[-1] if rows else None,
        "best": min(rows, key=lambda row: row["valid_loss"]) if rows else None,
        "bleu": {
            **(SIGNATURES if rows else dict.fromkeys(SIGNATURES)),
            **{"beam": 5, "length_penalty": 1.2},
            "sentences": {"valid": 50, "test": 40} if rows else {"valid": None, "test": None},
        },
        "seconds": 60.0 * len(rows),
        **more,
    }
    record = {"id": run.id, "identity": run.identity, "commit": "abc_123"}
    record["hardware"] = {"processor": "A & B", "cores": 4, "cores_used": 2, "gpus": []}
    folder = results / study.study / run.folder
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=COLUMNS).to_csv(folder / "curve.csv", index=False)
    (folder / "metrics.json").write_text(json.dumps(metrics))
    write_sealed(folder / "run.json", record)


def changed(path: Path, **values: Any) -> None:
    """Give keys of a run.json other values, as if it had been written with them."""
    write_sealed(path, read_sealed(path) | values)
