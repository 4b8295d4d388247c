"""Records of pre-trainings and fine-tunings, made up."""

from pathlib import Path

import pandas as pd

from preln.config import Study
from preln.pretraining.runs import expand, finetunings
from preln.records.files import write_sealed
from tests.made_up.language import HARDWARE, records_of

POST = {"placement": "post", "warmup": 4, "learning_rate": 1e-3}
PRE = {"placement": "pre", "learning_rate": 3e-3}
LOSSES = {"post": [8.0, 7.0, 6.5, 6.0], "pre": [7.0, 6.0, 5.5, 5.0]}


def write_records(results: Path, study: Study) -> None:
    """Records of every run and fine-tuning; accuracy rises with the learning rate and the seed."""
    for run in expand(study):
        records_of(study, run, results, LOSSES[run.settings.placement])
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
