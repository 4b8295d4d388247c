"""Records of pre-trainings and fine-tunings, made up."""

from pathlib import Path

import pandas as pd

from preln.config import Study
from preln.pretraining.runs import expand, finetunings
from preln.records.files import write_json, write_sealed

POST = {"placement": "post", "warmup": 4, "learning_rate": 1e-3}
PRE = {"placement": "pre", "learning_rate": 3e-3}
HARDWARE = {"processor": "Processor 1", "cores": 2, "cores_used": 1, "gpus": []}
LOSSES = {"post": [8.0, 7.0, 6.5, 6.0], "pre": [7.0, 6.0, 5.5, 5.0]}


def write_records(results: Path, study: Study) -> None:
    """Records of every run and fine-tuning; accuracy rises with the learning rate and the seed."""
    for run in expand(study):
        folder = results / study.study / "pretraining" / run.id
        folder.mkdir(parents=True)
        losses = LOSSES[run.settings.placement]
        curve = pd.DataFrame({"updates": [3, 6, 9, 12], "train_loss": losses, "valid_loss": losses})
        rest = {"learning_rate": 1e-3, "gradient_norm": 1.0, "tokens_per_second": 1000.0, "seconds": 2.0}
        curve.assign(**rest).to_csv(folder / "curve.csv", index=False)
        last = {"valid_loss": losses[-1]}
        metrics = {
            **{"id": run.id, "status": "finished", "diverged": None, "updates": 12, "parameters": 5000},
            **{"final": last, "best": last, "seconds": 8.0},
        }
        write_json(folder / "metrics.json", metrics)
        write_sealed(folder / "run.json", {"identity": run.identity, "commit": "abc", "hardware": HARDWARE})
    for job in finetunings(study):
        folder = results / study.study / "finetuning" / job.id
        folder.mkdir(parents=True)
        rows = [
            {**point.model_dump(), "seed": seed, "accuracy": 0.5 + 50 * point.learning_rate + 0.02 * seed, "f1": 0.4}
            for point in job.points
            for seed in (1, 2)
        ]
        pd.DataFrame(rows).to_csv(folder / "scores.csv", index=False)
        record = {
            **{"identity": job.identity, "commit": "abc", "hardware": HARDWARE},
            "task": {"parts": {"dev": {"pairs": 20, "positive": 8}}},
        }
        write_sealed(folder / "run.json", record)
