"""Runs as samples of a quantity, chosen by their settings and compared with their like."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from preln.report.claims.rules import Finding
from preln.report.core.statistics import Estimate, estimate, mean
from preln.report.reference.claims import OfRuns

SUPERLATIVES = ("longest", "short", "highest", "lowest")
LOWER_IS_BETTER = {"valid_loss": True, "updates_to_loss": True, "test_bleu": False, "accuracy": False}
"""The quantities of runs, and whether a lower value is the better one."""


def worst(quantity: str) -> float:
    """The value of a run that diverged before it had one: nothing is worse."""
    return math.inf if LOWER_IS_BETTER[quantity] else 0.0


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
        """Over the seeds."""
        return mean(self.by_seed.values())


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


def findings(test: OfRuns, sampled: Callable[[float], Sequence[Sample]]) -> list[Finding]:
    """What a test of runs finds: one finding for each series that it is about, or, of those of which any is enough, the
    one that is nearest to what is asked.

    Args:
        test: the test.
        sampled: the quantity of all runs, at a share of their length.
    """
    low, high = test.bounds
    compared = test.minus if test.minus is not None else test.over
    found = []
    mine = chosen(series(sampled(test.at)), test.runs)
    for one in mine:
        what = f"{test.quantity} of {_named(test.runs, one, mine)}"
        if compared is None:
            found.append(Finding(what, _mean(list(one.by_seed.values())), low, high))
            continue
        others = series(sampled(test.at if test.minus_at is None else test.minus_at))
        partners = _partners(test, compared, one, others)
        if partners:
            # Those that are left differ in what they may: the best of them is the measure.
            sign = 1 if LOWER_IS_BETTER[test.quantity] else -1
            best = min(partners, key=lambda other: sign * other.mean)
            word = "minus" if test.over is None else "over"
            values = _compared(test, _as_long_as(best, one, sampled), best)
            found.append(Finding(f"{what} {word} {_named(compared, best, partners)}", values, low, high))
    if test.any and found:
        return [min(found, key=lambda finding: max(low - finding.found.mean, finding.found.mean - high))]
    return found


def _partners(test: OfRuns, compared: Mapping[str, Any], one: Series, others: Sequence[Series]) -> list[Series]:
    """The series that one is compared with: alike in everything that the test does not name, and of the seeds that
    both have, so that the best is chosen by what it is compared by."""
    free = {*test.runs, *compared, *test.differ}
    alike = [
        Series(other.settings, {seed: other.by_seed[seed] for seed in one.by_seed if seed in other.by_seed})
        for other in others
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
    return chosen(alike, {**same, **compared})


def _as_long_as(other: Series, one: Series, sampled: Callable[[float], Sequence[Sample]]) -> Series:
    """A series after as many epochs as another one has, where it is longer."""
    ours, theirs = one.settings.get("epochs", 0), other.settings.get("epochs", 0)
    if ours <= theirs:
        return one
    return next(same for same in series(sampled(theirs / ours)) if same.settings == one.settings)


def _compared(test: OfRuns, one: Series, other: Series) -> Estimate:
    """The difference or the ratio, seed by seed."""
    pairs = [(one.by_seed[seed], theirs) for seed, theirs in sorted(other.by_seed.items())]
    return _mean([mine - theirs if test.over is None else mine / theirs for mine, theirs in pairs])


def _mean(values: Sequence[float]) -> Estimate:
    """The mean with its interval; where some seeds diverged and some did not, there is none."""
    if all(map(math.isfinite, values)):
        return estimate(values)
    return Estimate(values[0] if len(set(values)) == 1 else math.nan, math.nan, math.nan, len(values))


def _has(settings: Mapping[str, Any], key: str, wanted: Any) -> bool:
    value = settings[key]
    if wanted == "none":
        # One update of warm-up is at the peak at once, as none is.
        return bool(value <= 1)
    if wanted == "some":
        return bool(value > 1)
    return bool(value == wanted)


def _named(wanted: Mapping[str, Any], one: Series, among: Sequence[Series]) -> str:
    """A series by the settings that it was chosen for, and by those in which the others that were chosen differ."""
    differing = [key for key in one.settings if len({str(other.settings[key]) for other in among}) > 1]
    return ", ".join(
        f"{key} {one.settings[key]:g}" if isinstance(one.settings[key], int | float) else str(one.settings[key])
        for key in dict.fromkeys([*wanted, *differing])
    )
