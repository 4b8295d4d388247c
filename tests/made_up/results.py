"""Results of a study of translation, made up as far as they are compared or answered from."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from preln.config import validate
from preln.records.files import write_json, write_sealed
from preln.translation.curve import COLUMNS
from preln.translation.runs import expand
from tests.conftest import study_content


def write_results(folder: Path, losses: dict[str, dict[int, float]], dropout: float = 0.1, **changes: Any) -> Path:
    """Results of runs with the placement and the seeds, that end with the losses."""
    entries = [
        {"placement": placement, "seed": seed, **changes} for placement, by_seed in losses.items() for seed in by_seed
    ]
    content = study_content(*entries) | {"study": folder.name}
    content["translation"]["settings"]["dropout"] = dropout
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    for run in expand(validate(content, "study.yaml")):
        loss = losses[run.settings.placement][run.settings.seed]
        place = folder / "translation" / run.id
        place.mkdir(parents=True)
        last = {
            **{"epoch": 1, "valid_loss": loss, "test_loss": loss, "valid_bleu": 1.0, "test_bleu": 10.0},
            **{"valid_sacrebleu": 1.0, "test_sacrebleu": 1.0},
        }
        pd.DataFrame([dict.fromkeys(COLUMNS, 1.0) | last]).to_csv(place / "curve.csv", index=False)
        bleu = {"tokenised": "t", "sacrebleu": "s", "sentences": {"valid": 10, "test": 10}}
        metrics = {
            **{"id": run.id, "updates": 9, "parameters": 5, "seconds": 1.0},
            **{
                "status": "diverged" if math.isinf(loss) else "finished",
                "diverged": {"update": 9, "epoch": 1} if math.isinf(loss) else None,
            },
            **{"final": last, "best": last, "bleu": bleu},
        }
        write_json(place / "metrics.json", metrics)
        hardware = {"processor": "an abacus", "cores_used": 1, "gpus": []}
        write_sealed(place / "run.json", {"id": run.id, "identity": run.identity, "commit": "c", "hardware": hardware})
    return folder


def end(results: Path, run: str, loss: float, bleu: float = 1.0) -> None:
    """The record of a run's end, as far as an answer reads it."""
    folder = results / run
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_text(
        json.dumps({"diverged": None, "final": {"valid_loss": loss, "test_bleu": bleu}}), encoding="utf-8"
    )
