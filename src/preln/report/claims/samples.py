"""Runs as samples of a quantity, chosen by their settings and compared with their like."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from preln.report.claims.rules import Finding
from preln.report.reference.claims import OfRuns
from preln.report.statistics import Estimate, estimate

SUPERLATIVES = ("longest", "short", "highest", "lowest")


@dataclass(frozen=True)
class Sample:
    """A quantity of a run: the run's settings without the seed, the seed, and the value; infinite where a loss exploded
    or was never reached."""

    settings: Mapping[str, Any]
    seed: int
    value: float


@dataclass(frozen=True)
class Series:
    """Runs that differ in the seed alone."""

    settings: Mapping[str, Any]
    by_seed: Mapping[int, float]

    @property
    def mean(self) -> float:
        return sum(self.by_seed.values()) / len(self.by_seed)


def series(samples: Iterable[Sample]) -> list[Series]:
    """The samples by what they share, in their order."""
    found: list[tuple[Mapping[str, Any], dict[int, float]]] = []
    for sample in samples:
        for settings, by_seed in found:
            if settings == sample.settings:
                by_seed[sample.seed] = sample.value
                break
        else:
            found.append((sample.settings, {sample.seed: sample.value}))
    return [Series(settings, by_seed) for settings, by_seed in found]


def chosen(candidates: Sequence[Series], wanted: Mapping[str, Any]) -> list[Series]:
    """Those with the settings that are wanted, words among them; superlatives last, among those with the rest."""
    words = {key: value for key, value in wanted.items() if value in SUPERLATIVES}
    left = [
        one for one in candidates if all(_has(one.settings, key, wanted[key]) for key in wanted if key not in words)
    ]
    for key, word in words.items():
        values = [one.settings[key] for one in left if one.settings[key] > (1 if key == "warmup" else 0)]
        if not values:
            return []
        if word == "short":
            left = [one for one in left if 1 < one.settings[key] < max(values)]
        else:
            extreme = min(values) if word == "lowest" else max(values)
            left = [one for one in left if one.settings[key] == extreme]
    return left


def findings(test: OfRuns, samples: Sequence[Sample], others: Sequence[Sample], lower_is_better: bool) -> list[Finding]:
    """What a test of runs finds: one finding for each series that it is about.

    Args:
        test: the test.
        samples: the quantity of all runs, where the test looks at it.
        others: the same, where it looks at the runs that it compares with.
        lower_is_better: whether a lower value is the better one.
    """
    low = -math.inf if test.low is None else test.low
    high = math.inf if test.high is None else test.high
    compared = test.minus if test.minus is not None else test.over
    found = []
    for one in chosen(series(samples), test.runs):
        what = f"{test.quantity} of {_named(test.runs, one)}"
        if compared is None:
            found.append(Finding(what, estimate(list(one.by_seed.values())), low, high))
            continue
        free = {*test.runs, *compared, *test.differ}
        alike = [
            other
            for other in series(others)
            if all(other.settings[key] == value for key, value in one.settings.items() if key not in free)
            and other.by_seed.keys() & one.by_seed.keys()
            and other.settings != one.settings
        ]
        # What a word chose in the one, such as its highest rate, is asked of the other as a value.
        same = {
            key: value if value == "none" else one.settings[key]
            for key, value in test.runs.items()
            if key not in test.differ
        }
        # Those that are left differ in what they may: the best of them is the measure.
        partners = chosen(alike, {**same, **compared})
        if partners:
            best = min(partners, key=lambda other: other.mean if lower_is_better else -other.mean)
            word = "minus" if test.over is None else "over"
            found.append(Finding(f"{what} {word} {_named(compared, best)}", _compared(test, one, best), low, high))
    return found


def _compared(test: OfRuns, one: Series, other: Series) -> Estimate:
    """The difference or the ratio, seed by seed."""
    seeds = sorted(one.by_seed.keys() & other.by_seed.keys())
    if test.over is None:
        return estimate([one.by_seed[seed] - other.by_seed[seed] for seed in seeds])
    return estimate([one.by_seed[seed] / other.by_seed[seed] for seed in seeds])


def _has(settings: Mapping[str, Any], key: str, wanted: Any) -> bool:
    value = settings[key]
    if wanted == "none":
        # One update of warm-up is at the peak at once, as none is.
        return bool(value <= 1)
    if wanted == "some":
        return bool(value > 1)
    return bool(value == wanted)


def _named(wanted: Mapping[str, Any], one: Series) -> str:
    """A series by the settings that it was chosen for, and by what tells it from others."""
    keys = [*wanted, *(key for key in ("learning_rate", "warmup", "task") if key not in wanted and key in one.settings)]
    return ", ".join(
        f"{key} {one.settings[key]:g}" if isinstance(one.settings[key], int | float) else str(one.settings[key])
        for key in keys
    )
