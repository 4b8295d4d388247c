"""Runs as samples of a quantity, chosen by their settings and compared with their like."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from preln.report.claims.rules import Finding, Outcome
from preln.report.core.statistics import Estimate, estimate, mean, share_of_way
from preln.report.reference.claims import OfRuns
from preln.translation.report.budgets import read_at

SUPERLATIVES = ("longest", "short", "highest", "higher", "lowest", "lower")
LOWER_IS_BETTER = {"valid_loss": True, "updates_to_loss": True, "test_bleu": False, "accuracy": False}
"""The quantities of runs, and whether a lower value is the better one."""


def worst(quantity: str) -> float:
    """The value of a run that diverged before it had one: nothing is worse."""
    return math.inf if LOWER_IS_BETTER[quantity] else 0.0


@dataclass(frozen=True)
class Sample:
    """A quantity of a run.

    Attributes:
        settings: the run's, all but the seed.
        seed: its seed.
        value: the quantity; infinite where a loss exploded or was never reached.
        constant: what a constant guess has; NaN where that is not known.
        curve: at the end of each epoch, the sum of rates that is spent, and the quantity.
    """

    settings: Mapping[str, Any]
    seed: int
    value: float
    constant: float = math.nan
    curve: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Series:
    """Runs that differ in the seed alone: their settings, the quantity, and the samples that it is of, by seed."""

    settings: Mapping[str, Any]
    by_seed: Mapping[int, float]
    samples: Mapping[int, Sample] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return mean(self.by_seed.values())


def series(samples: Iterable[Sample]) -> list[Series]:
    """The samples by what they share, in their order."""
    found: list[tuple[Mapping[str, Any], dict[int, Sample]]] = []
    for sample in samples:
        for settings, by_seed in found:
            if settings == sample.settings:
                by_seed[sample.seed] = sample
                break
        else:
            found.append((sample.settings, {sample.seed: sample}))
    return [
        Series(settings, {seed: sample.value for seed, sample in by_seed.items()}, by_seed)
        for settings, by_seed in found
    ]


def chosen(candidates: Sequence[Series], wanted: Mapping[str, Any], among: Sequence[Series]) -> list[Series]:
    """The candidates with the settings that are wanted. A superlative is among those of `among` that have the other
    settings, on the same text."""
    words = {key: value for key, value in wanted.items() if value in SUPERLATIVES}
    plain = {key: value for key, value in wanted.items() if key not in words}
    left, compared = (
        [one for one in of if all(_has(one.settings, key, value) for key, value in plain.items())]
        for of in (candidates, among)
    )
    return [
        one
        for one in left
        if all(
            _is_superlative(one.settings[key], word, [it.settings[key] for it in compared if _same_text(it, one)])
            for key, word in words.items()
        )
    ]


def _same_text(one: Series, other: Series) -> bool:
    return all(one.settings.get(key) == other.settings.get(key) for key in ("corpus", "text"))


def _is_superlative(value: float, word: str, values: Sequence[float]) -> bool:
    """Whether a setting is what a superlative says, among the values that there are. A warm-up of 0 or 1 updates is
    none."""
    lengths = [one for one in values if one > 1] if word in ("longest", "short") else values
    if not lengths:
        return False
    least, most = min(lengths), max(lengths)
    match word:
        case "short" | "lower":
            return least <= value < most
        case "higher":
            return least < most == value
        case "lowest":
            return value == least
        case _:
            return value == most


def findings(test: OfRuns, sampled: Callable[[float], Sequence[Sample]]) -> list[Finding]:
    """What a test of runs finds: one finding for each series that it is about, or, of those of which any is enough, the
    one that is nearest to what is asked: one that holds, if there is one.

    Args:
        test: the test.
        sampled: the quantity of all runs, at a share of their length.
    """
    low, high = test.bounds
    compared = test.minus if test.minus is not None else test.over
    found = []
    every = series(sampled(test.at))
    mine = chosen(every, test.runs, every)
    for one in mine:
        what = f"{test.quantity} of {_named(test.runs, one, mine)}"
        if compared is None:
            if test.gain:
                what = f"gain over a constant guess in {what}"
            values = [_gain(test, sample) if test.gain else sample.value for sample in one.samples.values()]
            found.append(Finding(what, _mean(values), low, high))
            continue
        others = series(sampled(test.at if test.minus_at is None else test.minus_at))
        partners = _partners(test, compared, one, others)
        ends = _partners(test, test.gap_to, one, others) if test.gap_to is not None else []
        if not partners or (test.gap_to is not None and not ends):
            continue
        best = _best(test, partners)
        mine_then = _as_long_as(best, one, sampled)
        name = _named(compared, best, partners)
        if test.gap_to is not None:
            end = _best(test, ends)
            gap = _share_of_gap(test, one, best, end)
            name = f"the way from {name} to {_named(test.gap_to, end, ends)}"
            found.append(Finding(f"{what}, of {name}", gap, low, high, _of_chance(test, one, end)))
            continue
        word = "minus" if test.over is None else "over"
        theirs, undecided = _at_equal_rates(mine_then, best) if test.equal_rates else (best, "")
        undecided = undecided or _undecided(test, one, best, sampled)
        estimated = _compared(test, mine_then, theirs)
        found.append(Finding(f"{what} {word} {name}", estimated, low, high, undecided))
    return [min(found, key=_how_far)] if test.any and found else found


def _how_far(finding: Finding) -> tuple[int, bool, float]:
    """How far a finding is from what is asked: first by whether it holds, is unclear or fails, and of equal ones by how
    far its mean lies outside of the bounds. A mean that is not known is farthest."""
    mean = finding.found.mean
    order = (Outcome.HOLDS, Outcome.UNCLEAR, Outcome.FAILS)
    return order.index(finding.outcome), math.isnan(mean), max(finding.low - mean, mean - finding.high)


def _partners(test: OfRuns, compared: Mapping[str, Any], one: Series, others: Sequence[Series]) -> list[Series]:
    """The series that one is compared with: alike in everything that the test does not name, and of the seeds that
    both have, so that the best is chosen by what it is compared by."""
    free = {*test.runs, *compared, *test.differ}
    alike = [
        _of_seeds(other, one.by_seed)
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
    # A study may have another longest warm-up at each rate.
    rates = () if "learning_rate" in {*compared, *test.differ} else ("learning_rate",)
    among = [other for other in others if all(other.settings[key] == one.settings[key] for key in rates)]
    return chosen(alike, {**same, **compared}, among)


def _of_seeds(one: Series, seeds: Iterable[int]) -> Series:
    """The series, of those of the seeds that it has."""
    mine = [seed for seed in seeds if seed in one.by_seed]
    return Series(one.settings, {seed: one.by_seed[seed] for seed in mine}, {seed: one.samples[seed] for seed in mine})


def _best(test: OfRuns, among: Sequence[Series]) -> Series:
    """Of runs that differ in what they may, the best: it is the measure."""
    return max(among, key=lambda other: _sign(test) * other.mean)


def _gain(test: OfRuns, sample: Sample) -> float:
    """How far a run is better than a constant guess."""
    return _sign(test) * (sample.value - sample.constant)


def _sign(test: OfRuns) -> int:
    """What makes the higher value of a test's quantity the better one."""
    return -1 if LOWER_IS_BETTER[test.quantity] else 1


def _share_of_gap(test: OfRuns, one: Series, start: Series, end: Series) -> Estimate:
    """How much of the way from `start` to `end` a series has gone, seed by seed."""
    seeds = [seed for seed in sorted(one.by_seed) if seed in start.by_seed and seed in end.by_seed]
    shares = [share_of_way(*(_sign(test) * series.by_seed[seed] for series in (one, start, end))) for seed in seeds]
    return _mean(shares) if shares else Estimate(math.nan, math.nan, math.nan, 0)


def _at_equal_rates(one: Series, other: Series) -> tuple[Series, str]:
    """The other series where it has spent what this one spends in all, if it spends more, and why that decides nothing,
    if it does not."""
    values = dict(other.by_seed)
    for seed in other.by_seed:
        mine, theirs = one.samples[seed].curve, other.samples[seed].curve
        if mine and theirs and mine[-1][0] < theirs[-1][0]:
            values[seed] = read_at([sum_ for sum_, _ in theirs], [value for _, value in theirs], mine[-1][0])
    early = any(map(math.isnan, values.values()))
    return Series(other.settings, values, other.samples), "it spends a smaller sum of rates" if early else ""


def _undecided(test: OfRuns, one: Series, other: Series, sampled: Callable[[float], Sequence[Sample]]) -> str:
    """Why a comparison decides nothing, whatever its value; empty where it decides."""
    if test.settled is not None and not all(_is_settled(series_, test.settled, sampled) for series_ in (one, other)):
        return f"a loss still falls by more than {test.settled:g} in the last fifth"
    return _of_chance(test, one, other)


def _of_chance(test: OfRuns, one: Series, other: Series) -> str:
    """Why two series that have learned nothing decide nothing: a difference between them is one of chance. Empty where
    one of them has learned."""
    learned = any(_is_beyond_chance(test, series_) for series_ in (one, other))
    return "" if learned else "neither is better than a constant guess"


def _is_settled(one: Series, within: float, sampled: Callable[[float], Sequence[Sample]]) -> bool:
    """Whether a series changes by no more than this in the last fifth of its epochs, of which it has one at least."""
    epochs = one.settings["epochs"]
    before = next(same for same in series(sampled(math.floor(0.8 * epochs) / epochs)) if same.settings == one.settings)
    after = next(same for same in series(sampled(1.0)) if same.settings == one.settings)
    # A run that diverged has come to its end.
    return epochs > 1 and all(
        math.isinf(after.by_seed[seed]) or abs(after.by_seed[seed] - before.by_seed[seed]) <= within
        for seed in one.by_seed
    )


def _is_beyond_chance(test: OfRuns, one: Series) -> bool:
    """Whether a series is better than a constant guess for sure, or as far as one seed can tell. A constant guess that
    is not known is no objection."""
    gains = [_gain(test, sample) for sample in one.samples.values()]
    if any(map(math.isnan, gains)):
        return True
    found = _mean(gains)
    return (found.mean if found.n == 1 else found.low) > 0


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
