"""The map of failure, over peak rates and lengths of warm-up, of any kind of training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from preln.config import LanguageSettings, RunSettings, Study
from preln.libraries import pd
from preln.report.core import forms
from preln.report.core.forms import Content, rounded
from preln.report.core.labels import names
from preln.report.core.statistics import LEARNED, has_learned, mean

MapSettings = RunSettings | LanguageSettings
_SPANNED = {"learning_rate", "warmup", "seed", "figures"}
_FEWEST_RATES, _FEWEST_WARMUPS = 3, 2
_MOST_MODELS = 5
"""The maps for which a page is wide enough."""


class MapRun(Protocol):
    """A run that may be in a map."""

    @property
    def settings(self) -> MapSettings: ...


J = TypeVar("J", bound=MapRun)


@dataclass(frozen=True)
class Ending:
    """The end of a run: the last validation loss in bits a token, infinite if it diverged, beside that of the unigram
    baseline on the same text, its `guess`, and the updates that it made."""

    settings: MapSettings
    loss: float
    guess: float
    updates: int


@dataclass(frozen=True)
class Endings:
    """The ends of a study's runs that are done, the settings of all that it asks for, and the names of the texts."""

    asked: tuple[MapSettings, ...]
    done: tuple[Ending, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """The runs of one peak rate and one length of warm-up, which differ in their seed alone: the last validation loss
    of each that is done, in bits a token (infinite of one that diverged), and that of the unigram baseline."""

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
        """The number of those that diverged, or ended less than `LEARNED` below the unigram baseline."""
        return sum(not has_learned(loss, self.guess) for loss in self.losses)

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
    """The runs of a model at several peak rates and lengths of warm-up in updates, both ascending: its name, in what it
    differs from the study's other maps, the settings of its first run, and the cells by rate and warm-up that have a
    run that is done."""

    name: str
    settings: MapSettings
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


def in_a_map(study: Study, runs: Sequence[J]) -> Sequence[J]:
    """Those of a study's runs that are in a map: with runs alike but for the seed, at each of several peak rates and
    lengths of warm-up."""
    models = _models([run.settings for run in runs])
    return [run for run in runs if model_of(run.settings) in models]


def legible(study: Study, runs: Sequence[J]) -> Sequence[J]:
    """The runs of the maps, unless there are more of them than a page is wide."""
    shown = in_a_map(study, runs)
    return shown if len({model_of(run.settings) for run in shown}) <= _MOST_MODELS else []


def maps(endings: Endings) -> list[Map]:
    """The maps of a study's runs, in their order."""
    ended: dict[MapSettings, dict[tuple[float, int], list[Ending]]] = {}
    for ending in endings.done:
        place = (ending.settings.learning_rate, ending.settings.warmup)
        ended.setdefault(model_of(ending.settings), {}).setdefault(place, []).append(ending)
    models = _models(endings.asked)
    called = names_of_models([members[0] for members in models.values()])
    return [
        Map(
            called[members[0]],
            members[0],
            sorted({settings.learning_rate for settings in members}),
            sorted({settings.warmup for settings in members}),
            {place: _cell(seeds) for place, seeds in ended.get(model, {}).items()},
        )
        for model, members in models.items()
    ]


def names_of_models(models: Sequence[MapSettings]) -> dict[MapSettings, str]:
    """The name of each model, by the settings of one of its runs."""
    return names(models, {"placement"}, _SPANNED)[0]


def model_of(settings: MapSettings) -> MapSettings:
    """The model of a run in a map: its settings, but for the rate, the warm-up and the seed."""
    return settings.model_copy(update=dict.fromkeys(_SPANNED & type(settings).model_fields.keys()))


def _models(asked: Sequence[MapSettings]) -> dict[MapSettings, list[MapSettings]]:
    """The runs of each model that was trained at several rates with several warm-ups."""
    alike: dict[MapSettings, list[MapSettings]] = {}
    for settings in asked:
        alike.setdefault(model_of(settings), []).append(settings)
    return {model: members for model, members in alike.items() if _is_a_map(members)}


def _is_a_map(members: Sequence[MapSettings]) -> bool:
    """True where there are runs at each of the rates with each of the warm-ups, and enough of both."""
    places = {(settings.learning_rate, settings.warmup) for settings in members}
    rates = {rate for rate, _ in places}
    warmups = {warmup for _, warmup in places}
    enough = len(rates) >= _FEWEST_RATES and len(warmups) >= _FEWEST_WARMUPS
    return enough and len(places) == len(rates) * len(warmups)


def _cell(seeds: Sequence[Ending]) -> Cell:
    return Cell(tuple(ending.loss for ending in seeds), mean([ending.guess for ending in seeds]))


_COLUMNS = ["model", "warmup", "limit", "best_rate", "best_valid_loss", "runs", "failed", "constant_guess"]


def limits_table(study: Study, endings: Endings) -> Content:
    """The table of the largest rate that each model bears with each warm-up."""
    rows = []
    for model in maps(endings):
        for warmup in model.warmups:
            if cells := list(model.at(warmup).values()):
                limit, best = model.limit(warmup), model.best(warmup)
                rate, loss = (best[0], best[1].loss) if best else (math.nan, math.nan)
                runs, failed = sum(cell.seeds for cell in cells), sum(cell.failed for cell in cells)
                limit = math.nan if limit is None else limit
                rows.append((model.name, warmup, limit, rate, loss, runs, failed, cells[0].guess))
    full = pd.DataFrame(rows, columns=_COLUMNS)
    text = pd.DataFrame(
        {
            "Model": full["model"],
            "Warm-up": full["warmup"],
            "Limit": full["limit"].map(forms.rate),
            "Best rate": full["best_rate"].map(forms.rate),
            "Valid. loss there": full["best_valid_loss"].map(lambda loss: rounded(loss, 2)),
            "Runs": full["runs"],
            "Failed": full["failed"],
            "Unigram baseline": full["constant_guess"].map(lambda loss: rounded(loss, 2)),
        }
    )
    title = f"Study {study.study}: {full['runs'].sum()} of {len(endings.asked)} runs."
    return Content(full, text, title, [_NOTE])


_NOTE = (
    f"A run fails if it diverges, or ends less than {LEARNED} bits a token below the unigram baseline. A rate trains "
    "if at most a third of its seeds fail. The limit is the largest rate that trains; there is none if no lower one "
    "trains. Losses are means of the seeds that did not diverge."
)
