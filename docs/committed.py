"""What the pages read of the committed records: the tables of a study, and the ends and epochs of its runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pandas as pd

from preln import recording
from preln.config import RunSettings, Study
from preln.config import load as load_study
from preln.runs import expand

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
K = TypeVar("K")


def table(study: str, name: str) -> pd.DataFrame:
    """A committed table of a study, such as `runs`."""
    return pd.read_csv(RESULTS / study / "tables" / f"{name}.csv")


def claims(study: str) -> pd.DataFrame:
    """A committed ledger of claims, by the claims' numbers."""
    return pd.read_csv(RESULTS / study / "claims.csv").set_index("claim")


def final(study: str, settings: str, column: str = "final_valid_loss") -> float:
    """A number of a run's last epoch: the mean over the seeds of the run whose id begins so."""
    return float(final_by_seed(study, settings, column).mean())


def final_by_seed(study: str, settings: str, column: str = "final_valid_loss") -> pd.Series:
    """A number of the last epoch of the run whose id begins so, by its seeds."""
    recorded = table(study, "runs")
    chosen = recorded[recorded["run"].str.fullmatch(settings + r"-s\d+")]
    if chosen.empty:
        raise KeyError(f"{study} has no run {settings}")
    return chosen.set_index("seed")[column]


def theory(study: str, quantity: str, model: str) -> pd.Series:
    """A row of a study's table of the theory."""
    recorded = table(study, "theory")
    (row,) = (row for _, row in recorded.iterrows() if row["quantity"] == quantity and row["model"] == model)
    return row


@dataclass(frozen=True)
class Ends:
    """What each seed of a run has at its end: the validation loss, in bits a token, and the test BLEU."""

    losses: list[float] = field(default_factory=list)
    bleu: list[float] = field(default_factory=list)


def study_of(name: str) -> Study:
    """A study of config/."""
    return load_study(ROOT / "config" / f"{name}.yaml")


def last_of(folder: Path) -> dict[str, float]:
    """A run's numbers at its end."""
    ended = recording.read_metrics(folder)
    # What diverged has learned nothing that it kept.
    return {"valid_loss": math.inf, "test_bleu": 0.0} if ended["diverged"] else ended["final"]


def lowest_of(folder: Path) -> dict[str, float]:
    """A run's numbers after the epoch with its lowest validation loss; those of its end if it diverged."""
    recorded = recording.read_metrics(folder)
    best: dict[str, float] = recorded["best"]
    return last_of(folder) if recorded["diverged"] else best


def after_epoch(folder: Path, epoch: int) -> dict[str, float]:
    """A run's numbers after one of its epochs; its last ones if it diverged before."""
    return first_where(folder / "curve.csv", "epoch", epoch) or last_of(folder)


def first_where(curve: Path, column: str, value: int, within: int = 0) -> dict[str, float] | None:
    """The numbers of the first epoch of a curve in which a column has the value; None where no epoch has it."""
    rows = pd.read_csv(curve)
    found = rows[(rows[column] - value).abs() <= within]
    return None if found.empty else {number: float(found[number].iloc[0]) for number in ("valid_loss", "test_bleu")}


def translations(
    results: Path, name: str, read: Callable[[Path], dict[str, float]] = last_of
) -> Iterator[tuple[RunSettings, dict[str, float]]]:
    """The settings and the numbers of the translation runs of a study that are done: the last ones, or what `read`
    takes from a run's folder."""
    for run in expand(study_of(name)):
        folder = results / name / run.folder
        if (folder / recording.METRICS).exists():
            yield run.settings, read(folder)


def by_settings(
    runs: Iterable[tuple[RunSettings, dict[str, float]]], what: Callable[[RunSettings], K | None]
) -> dict[K, Ends]:
    """The ends of all seeds, by what a run is. Runs for which `what` returns None are left out."""
    found: dict[K, Ends] = {}
    for settings, last in runs:
        one = what(settings)
        if one is not None:
            ends = found.setdefault(one, Ends())
            ends.losses.append(last["valid_loss"])
            ends.bleu.append(last["test_bleu"])
    return found
