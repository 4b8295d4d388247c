"""What the pages read of the committed records: the tables of a study, and the ends and epochs of its runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pandas as pd

from preln.config import RunSettings, Study
from preln.config import load as load_study
from preln.jobs.runs import expand
from preln.records import recording

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
K = TypeVar("K")
Reader = Callable[[Path], dict[str, float]]
"""What takes a run's numbers from its folder: the validation loss, in bits a token, and the test BLEU."""
SEEDS = 3
"""The seeds that most rules ask of a run."""


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
    """What each seed of a run has at its end, or where else it is read: the validation loss, in bits a token, and the
    test BLEU."""

    losses: list[float] = field(default_factory=list)
    bleu: list[float] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)


def differences(one: Ends, other: Ends) -> list[float]:
    """How far the losses of one run are above those of another, for each seed that both have."""
    theirs = dict(zip(other.seeds, other.losses, strict=True))
    return [loss - theirs[seed] for seed, loss in zip(one.seeds, one.losses, strict=True) if seed in theirs]


def losses_of(found: Mapping[K, Ends]) -> dict[K, list[float]]:
    """The losses of the runs alone."""
    return {one: ends.losses for one, ends in found.items()}


def have_all_seeds(*runs: Sequence[float]) -> bool:
    """Whether each run has as many seeds as most rules ask."""
    return all(len(seeds) >= SEEDS for seeds in runs)


def study_of(name: str) -> Study:
    """A study of config/."""
    return load_study(ROOT / "config" / f"{name}.yaml")


def last_of(folder: Path) -> dict[str, float]:
    """A run's numbers at its end."""
    return _of_metrics(folder, "final")


def lowest_of(folder: Path) -> dict[str, float]:
    """A run's numbers after the epoch with its lowest validation loss; those of its end if it diverged."""
    return _of_metrics(folder, "best")


def _of_metrics(folder: Path, epoch: str) -> dict[str, float]:
    recorded = recording.read_metrics(folder)
    # What diverged has learned nothing that it kept.
    return {"valid_loss": math.inf, "test_bleu": 0.0} if recorded["diverged"] else recorded[epoch]


def after_epoch(epoch: int) -> Reader:
    """What reads a run after one of its epochs, or at its end if it ended before."""
    return lambda folder: first_where(folder / "curve.csv", "epoch", epoch) or last_of(folder)


def first_where(curve: Path, column: str, value: int, within: int = 0) -> dict[str, float] | None:
    """The numbers of the first epoch of a curve in which a column has the value; None where no epoch has it."""
    rows = pd.read_csv(curve)
    found = rows[(rows[column] - value).abs() <= within]
    return None if found.empty else {number: float(found[number].iloc[0]) for number in ("valid_loss", "test_bleu")}


def translations(results: Path, name: str, reader: Reader = last_of) -> Iterator[tuple[RunSettings, dict[str, float]]]:
    """The settings and the numbers of the translation runs of a study that are done: the last ones, or what `reader`
    takes from a run's folder."""
    for run in expand(study_of(name)):
        folder = results / name / run.folder
        if (folder / recording.METRICS).exists():
            yield run.settings, reader(folder)


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
            ends.seeds.append(settings.seed)
    return found
