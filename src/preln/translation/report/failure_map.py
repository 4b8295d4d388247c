"""The map of failure, over peak rates and lengths of warm-up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from preln.config import RunSettings, Study
from preln.libraries import pd
from preln.records.recording import AGAIN, RecordError
from preln.report.core.labels import label, varying
from preln.report.core.statistics import mean
from preln.translation.report.records import Records
from preln.translation.runs import Run

MARGIN = 0.3
"""A run that learns ends at least so many bits a token below the unigram baseline."""

_SPANNED = {"learning_rate", "warmup", "seed", "figures"}
_FEWEST_RATES, _FEWEST_WARMUPS = 3, 2


def fails(loss: float, guess: float) -> bool:
    """True of a run that has not learned: it ends less than `MARGIN` below the unigram baseline, or has no loss."""
    return not loss <= guess - MARGIN


@dataclass(frozen=True)
class Cell:
    """The runs of one peak rate and one length of warm-up, which differ in their seed alone.

    Attributes:
        losses: the last validation loss of each that is done, in bits a token; infinite of one that diverged.
        guess: the loss of the unigram baseline on the same text.
    """

    losses: tuple[float, ...]
    guess: float

    @property
    def seeds(self) -> int:
        """The number of those that are done."""
        return len(self.losses)

    @property
    def ended(self) -> list[float]:
        """The losses of those that did not diverge."""
        return [loss for loss in self.losses if math.isfinite(loss)]

    @property
    def failed(self) -> int:
        """The number of those that diverged, or ended less than `MARGIN` below the unigram baseline."""
        return sum(fails(loss, self.guess) for loss in self.losses)

    @property
    def loss(self) -> float:
        """The mean loss of those that did not diverge; NaN of none."""
        return mean(self.ended)

    @property
    def trains(self) -> bool:
        """At most a third of the seeds fail."""
        return 3 * self.failed <= self.seeds


@dataclass(frozen=True)
class Map:
    """The runs of a model at several peak rates and lengths of warm-up.

    Attributes:
        name: in what the model differs from those of the study's other maps.
        settings: of its first run.
        rates: peak rates, ascending.
        warmups: lengths of warm-up in updates, ascending.
        cells: by rate and warm-up, where a run is done.
    """

    name: str
    settings: RunSettings
    rates: list[float]
    warmups: list[int]
    cells: dict[tuple[float, int], Cell]

    def limit(self, warmup: int) -> float | None:
        """The largest rate that trains with a warm-up, while a lower one does too."""
        training = list(self.training(warmup))
        return training[-1] if len(training) > 1 else None

    def at(self, warmup: int) -> dict[float, Cell]:
        """The cells of a warm-up, by their rates, ascending."""
        return {rate: self.cells[rate, warmup] for rate in self.rates if (rate, warmup) in self.cells}

    def training(self, warmup: int) -> dict[float, Cell]:
        """The cells that train with a warm-up, by their rates."""
        return {rate: cell for rate, cell in self.at(warmup).items() if cell.trains}

    def best(self, warmup: int) -> tuple[float, Cell] | None:
        """The rate with the lowest loss with a warm-up, of those that train, and its runs."""
        return min(self.training(warmup).items(), key=lambda item: item[1].loss, default=None)


def in_a_map(study: Study, runs: Sequence[Run]) -> Sequence[Run]:
    """Those of a study's runs that are in a map: with runs alike but for the seed, at each of several peak rates and
    lengths of warm-up."""
    return [run for members in _models(runs).values() for run in members]


def maps(records: Records) -> list[Map]:
    """The maps of a study's records, in the order of its runs.

    Raises:
        RecordError: if a run's record does not have the unigram baseline of its text, for it cannot be judged.
    """
    if len(without := records.summary.loc[records.summary["constant_guess"].isna(), "run"]):
        raise RecordError(f"{without.iloc[0]}: metrics.json has no constant_guess; {AGAIN}")
    models = _models(records.runs)
    differing = varying(run.settings for run in records.runs) - _SPANNED
    drawn = []
    for model in models.values():
        settings = model[0].settings
        ended = records.summary[records.summary["run"].isin([run.id for run in model])]
        places: Any = ended.groupby(["learning_rate", "warmup"], sort=False)
        drawn.append(
            Map(
                label(settings, differing | {"placement"}, with_warmup=False),
                settings,
                sorted({run.settings.learning_rate for run in model}),
                sorted({run.settings.warmup for run in model}),
                {place: _cell(rows) for place, rows in places},
            )
        )
    return drawn


def model_of(settings: RunSettings) -> RunSettings:
    """The model of a run in a map: its settings, but for the rate, the warm-up and the seed."""
    return settings.model_copy(update=dict.fromkeys(_SPANNED))


def _models(runs: Sequence[Run]) -> dict[RunSettings, list[Run]]:
    """The runs of each model that was trained at several rates with several warm-ups."""
    alike: dict[RunSettings, list[Run]] = {}
    for run in runs:
        alike.setdefault(model_of(run.settings), []).append(run)
    return {model: members for model, members in alike.items() if _is_a_map(members)}


def _is_a_map(members: Sequence[Run]) -> bool:
    """True where there are runs at each of the rates with each of the warm-ups, and enough of both."""
    places = {(run.settings.learning_rate, run.settings.warmup) for run in members}
    rates = {rate for rate, _ in places}
    warmups = {warmup for _, warmup in places}
    enough = len(rates) >= _FEWEST_RATES and len(warmups) >= _FEWEST_WARMUPS
    return enough and len(places) == len(rates) * len(warmups)


def _cell(rows: pd.DataFrame) -> Cell:
    """The cell of some runs, from their rows of the summary."""
    losses = rows["final_valid_loss"].where(rows["status"] == "finished", math.inf)
    return Cell(tuple(losses.astype(float)), mean(rows["constant_guess"].astype(float).tolist()))
