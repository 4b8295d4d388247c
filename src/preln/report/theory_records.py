"""The measurements of a study's theory as one tidy frame, with the units of the figures and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from preln.config import Study
from preln.report.records import RecordError
from preln.report.statistics import exponent
from preln.theory.measurements import COLUMNS, read
from preln.theory.parts import Part

TITLES = {"post": "Post-LN", "pre": "Pre-LN"}


def load(study: Study, parts: Sequence[Part], results: Path) -> pd.DataFrame:
    """The measurements of the parts that are done, in the columns of their files and `part`, the part's id.

    Raises:
        RecordError: if a file is damaged, or was measured with other settings than the study's.
    """
    tables = []
    for part in parts:
        folder = results / study.study / "theory" / part.id
        if not (folder / "run.json").exists():
            continue
        try:
            record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            table = read(folder / "measurements.csv")
        except (OSError, ValueError) as error:
            raise RecordError(f"{folder}: cannot be read ({error})") from None
        if record.get("identity") != json.loads(json.dumps(part.identity)):
            raise RecordError(f"{folder / 'run.json'}: measured with other settings than the study's; measure it again")
        tables.append(table.assign(part=part.id))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*COLUMNS, "part"])


def origin(study: Study, parts: Sequence[Part], results: Path) -> list[str]:
    """Where the measurements come from, in a sentence each: commits and hardware."""
    commits, machines = set(), set()
    for part in parts:
        path = results / study.study / "theory" / part.id / "run.json"
        if path.exists():
            record = json.loads(path.read_text(encoding="utf-8"))
            commits.add(str(record["commit"]))
            gpus = record["hardware"]["gpus"]
            machines.add(gpus[0] if gpus else record["hardware"]["processor"])
    return [f"Commit: {'; '.join(sorted(commits))}.", f"Hardware: {'; '.join(sorted(machines))}."] if commits else []


def profile(measured: pd.DataFrame) -> pd.DataFrame:
    """What was measured in every layer of the model of the proofs."""
    return measured[measured["part"] == "exact-layers"]


def sweep(measured: pd.DataFrame, over: str) -> pd.DataFrame:
    """The last layer's gradient of W^2 in the sweep over `depth` or `width`."""
    mine = measured[measured["part"] == f"exact-{over}s"]
    return mine[mine["quantity"] == "gradient_norm"]


def exponents(swept: pd.DataFrame, over: str) -> list[float]:
    """The exponent of each seed's gradient in the depth or the width, in the order of the seeds."""
    return [
        exponent(seed[over].tolist(), seed["value"].tolist()) for _, seed in swept.sort_values(over).groupby("seed")
    ]


def expected_gradients(measured: pd.DataFrame) -> pd.DataFrame:
    """Figure 3's quantity for the translation models."""
    return measured[(measured["model"] == "translation") & (measured["quantity"] == "expected_gradient_norm")]


def growth(gradients: pd.DataFrame) -> list[float]:
    """For each seed, the factor by which the gradient grows from one layer to the next, towards the output.

    Args:
        gradients: the norms of one matrix in every layer of one model, for all seeds.
    """
    factors = []
    for _, seed in gradients.sort_values("layer").groupby("seed"):
        first, last = seed.iloc[0], seed.iloc[-1]
        factors.append(float((last["value"] / first["value"]) ** (1 / (last["layer"] - first["layer"]))))
    return factors


def progress(study: Study, parts: Sequence[Part], measured: pd.DataFrame) -> str:
    """How many of the parts are done, for the note below a figure or a table."""
    done = measured["part"].nunique() if len(measured) else 0
    return f"Study {study.study}: {done} of {len(parts)} parts of the theory measured"
