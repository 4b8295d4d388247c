"""Traces of first updates, made up."""

from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study
from preln.records import recording
from preln.theory.first_updates import write
from preln.theory.trace_jobs import TraceJob
from tests.conftest import CORPUS, LANGUAGE, RUN, TEXT

UPDATES = 12


def content(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A study of traces alone: of the small run with the changes of each of `runs`."""
    section = {"settings": RUN, "runs": list(runs) or [{}], **changes}
    return {"study": "tiny", "corpora": {"tiny": CORPUS}, "first_updates": section}


def language_content(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The same of language models."""
    section = {"settings": LANGUAGE, "runs": list(runs) or [{}], **changes}
    return {"study": "tiny", "texts": {"tiny": TEXT}, "first_updates": section}


def made_up(job: TraceJob, updates: int = UPDATES) -> pd.DataFrame:
    """A trace of simple form: every number is known by the update and the seed."""
    seed = job.settings.seed
    rows = []
    for update in range(updates + 1):
        row: dict[str, float] = {"update": update, "loss": 9.0 - 0.1 * update + seed, "cosine": 0.05 * update}
        row |= {f"input_norm.decoder.{layer}": 1.0 + layer for layer in (1, 2)}
        if update:
            # The largest change is not among the first ten.
            row |= {"function_change": float(update) * seed, "function_distance": 2.0 * update, "learning_rate": 1e-3}
            row |= {f"gradient_norm.decoder.{layer}": 0.5 * layer**2 for layer in (1, 2)}
        if update % 4 == 0:
            row["sharpness"] = 10.0 + update
        rows.append(row)
    return pd.DataFrame(rows)


def done(study: Study, job: TraceJob, results: Path, trace: pd.DataFrame, status: str = "finished") -> None:
    folder = results / study.study / "first-updates" / job.id
    write(trace, folder / "updates.csv")
    record = {"identity": job.identity, "commit": "c0ffee", "hardware": {"gpus": [], "processor": "an abacus"}}
    recording.write(folder, {**record, "status": status, "updates": len(trace) - 1}, ["updates.csv"])
