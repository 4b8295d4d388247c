"""Series of runs that differ in the seed alone: chosen by their settings, paired with their like, and compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from preln.report.core.statistics import mean, share_of_way
from preln.translation.report.budgets import read_at

NONE, SOME = "none", "some"
"""A warm-up of at most one update, which is at the peak at once, and a longer one."""
LONGEST, SHORT = "longest", "short"
"""The longest warm-up of the runs that have the other settings and the same text, and one that is not the longest."""
HIGHEST, LOWEST, LOWER, HIGHER = "highest", "lowest", "lower", "higher"
"""A rate among those of the runs with the other settings: one that is not the highest; the highest of several."""
SUPERLATIVES = (LONGEST, SHORT, HIGHEST, LOWEST, LOWER, HIGHER)
SCHEDULE = ("schedule", "anchor", "decay_period", "drop_epoch", "drop_factor")
"""The settings of a schedule but for its rate and its warm-up."""


@dataclass(frozen=True)
class Sample:
    """A quantity of a run.

    Attributes:
        settings: the run's, all but the seed.
        seed: its seed.
        values: the quantity at the end of each epoch; of what has no epochs, the quantity alone. A run that diverged
            has no more of them.
        sums: the sum of rates that is spent at the end of each epoch.
        baseline: what the unigram baseline has, or the more frequent answer; NaN where that is not known.
        lower_is_better: whether a lower value is the better one.
        epochs: of the run; 0 of what has none.
        updates: that are made at the end of each epoch.
    """

    settings: Mapping[str, Any]
    seed: int
    values: tuple[float, ...]
    sums: tuple[float, ...] = ()
    baseline: float = math.nan
    lower_is_better: bool = True
    epochs: int = 0
    updates: tuple[int, ...] = ()

    @property
    def worst(self) -> float:
        """The value of a run that diverged: nothing is worse."""
        return math.inf if self.lower_is_better else 0.0

    def at(self, share: float = 1.0) -> float:
        """The value after a share of the epochs, capped at the baseline: a run beyond it has learned nothing."""
        return self.capped(self.raw(share))

    def raw(self, share: float = 1.0) -> float:
        """The value after a share of the epochs, as it is recorded."""
        if not self.epochs:
            return self.values[0]
        epoch = max(1, round(share * self.epochs))
        return self.values[epoch - 1] if epoch <= len(self.values) else self.worst

    def at_sum(self, total: float) -> float:
        """The value where the run has spent a sum of rates; NaN before its first epoch."""
        return self.capped(read_at(self.sums, self.values, total)) if self.sums else self.at()

    def capped(self, value: float) -> float:
        """A value that is no worse than the baseline."""
        if math.isnan(self.baseline) or math.isnan(value):
            return value
        return min(value, self.baseline) if self.lower_is_better else value

    def learned(self, share: float = 1.0) -> bool:
        """Whether the run is better than the baseline. One that is not known is no objection."""
        return math.isnan(self.baseline) or self.gain(share) > 0

    def gain(self, share: float = 1.0) -> float:
        """How much better than the baseline it is."""
        return self.sign * (self.raw(share) - self.baseline)

    @property
    def sign(self) -> int:
        """What makes the higher value the better one."""
        return -1 if self.lower_is_better else 1


@dataclass(frozen=True)
class Series:
    """Runs that differ in the seed alone: their settings, and a sample of each seed."""

    settings: Mapping[str, Any]
    samples: Mapping[int, Sample]

    @property
    def seeds(self) -> list[int]:
        """Ascending."""
        return sorted(self.samples)

    def of(self, seeds: Iterable[int]) -> Series:
        """The series, of those of the seeds that it has."""
        return Series(self.settings, {seed: self.samples[seed] for seed in seeds if seed in self.samples})

    def values(self, share: float = 1.0) -> list[float]:
        """The capped value of each seed."""
        return [self.samples[seed].at(share) for seed in self.seeds]

    @property
    def score(self) -> float:
        """The mean of the last values, of which a higher one is better."""
        return mean([sample.sign * sample.at() for sample in self.samples.values()])


def series(samples: Iterable[Sample]) -> list[Series]:
    """The samples by the settings that they share, in their order."""
    found: dict[tuple[tuple[str, str], ...], tuple[Mapping[str, Any], dict[int, Sample]]] = {}
    for sample in samples:
        key = tuple((name, repr(value)) for name, value in sorted(sample.settings.items()))
        found.setdefault(key, (sample.settings, {}))[1][sample.seed] = sample
    return [Series(settings, by_seed) for settings, by_seed in found.values()]


def where(runs: Sequence[Series], **wanted: Any) -> list[Series]:
    """The series with some settings, each given as a value, a tuple of values or a word of this module. A superlative
    is among those that have the other settings, on the same text."""
    return _chosen(runs, runs, wanted)


def _chosen(runs: Sequence[Series], among: Sequence[Series], wanted: Mapping[str, Any]) -> list[Series]:
    """As `where`, with superlatives among the series of `among`."""
    words = {key: value for key, value in wanted.items() if isinstance(value, str) and value in SUPERLATIVES}
    plain = {key: value for key, value in wanted.items() if key not in words}
    compared = [one for one in among if _has_all(one, plain)]
    return [
        one
        for one in runs
        if _has_all(one, plain)
        and all(
            _is_superlative(one.settings[key], word, [it.settings[key] for it in compared if _same_text(it, one)])
            for key, word in words.items()
        )
    ]


def partner(
    runs: Sequence[Series], one: Series, chosen: Mapping[str, Any], differ: Iterable[str] = (), **wanted: Any
) -> Series | None:
    """The series that one is compared with, on the seeds that both have: the best of those with the wanted settings
    that are alike in all else but the settings in `differ`; None where there is none.

    Args:
        runs: all series.
        one: the series.
        chosen: the settings that it was chosen by.
        differ: further settings in which the two may differ.
        wanted: as of `where`.
    """
    free = {*chosen, *wanted, *differ}
    alike = [
        other.of(one.samples)
        for other in runs
        if other.samples.keys() & one.samples.keys()
        and other.settings != one.settings
        and all(other.settings[key] == value for key, value in one.settings.items() if key not in free)
    ]
    # What a word chose in the one, such as its highest rate, is asked of the other as a value.
    same = {key: value if value == NONE else one.settings[key] for key, value in chosen.items() if key not in {*differ}}
    # A study may have another longest warm-up at each rate.
    rates = () if "learning_rate" in {*wanted, *differ} else ("learning_rate",)
    among = [other for other in runs if all(other.settings[key] == one.settings[key] for key in rates)]
    return max(_chosen(alike, among, {**same, **wanted}), key=lambda other: other.score, default=None)


@dataclass(frozen=True)
class Compared:
    """Two series beside each other: a value of each seed that both have, and why that decides nothing, if it does."""

    values: tuple[float, ...]
    undecided: str = ""


def difference(
    one: Series,
    other: Series,
    *,
    share: float = 1.0,
    other_share: float = 1.0,
    equal_rates: bool = False,
    settled: float | None = None,
) -> Compared:
    """One series minus another, seed by seed, with losses capped at the unigram baseline.

    Args:
        one: the series.
        other: that is taken off it.
        share: of its epochs, after which the one is read; at most as many epochs as the other has.
        other_share: of its epochs, after which the other is read.
        equal_rates: whether the other is read where it has spent the sum of rates that the one spends in all, if it
            spends more.
        settled: by how much each may still change in the last fifth of its epochs; beyond it nothing is decided.
    """
    seeds = [seed for seed in one.seeds if seed in other.samples]
    reasons, values = [], []
    for seed in seeds:
        mine, its = one.samples[seed], other.samples[seed]
        upto = share if not mine.epochs or mine.epochs <= its.epochs else share * its.epochs / mine.epochs
        value = its.at(other_share)
        if equal_rates and mine.sums and its.sums and mine.sums[-1] < its.sums[-1]:
            value = its.at_sum(mine.sums[-1])
            if math.isnan(value):
                reasons.append("the other spends more before its first epoch ends")
        if not (mine.learned(upto) or its.learned(other_share)):
            reasons.append(f"neither learns with seed {seed}")
        if settled is not None and not (_is_settled(mine, settled) and _is_settled(its, settled)):
            reasons.append(f"a loss still changes by more than {settled:g} in the last fifth")
        values.append(_minus(mine.at(upto), value))
    return Compared(tuple(values), next(iter(reasons), ""))


def ratio(one: Series, other: Series) -> Compared:
    """One series over another, seed by seed."""
    pairs = [(one.samples[seed].at(), other.samples[seed].at()) for seed in one.seeds if seed in other.samples]
    values = [math.nan if math.isinf(mine) and math.isinf(its) else mine / its for mine, its in pairs]
    return Compared(tuple(values), "neither comes so far" if any(map(math.isnan, values)) else "")


def share(one: Series, start: Series, end: Series) -> Compared:
    """How much of the way from `start` to `end` a series has gone, seed by seed, with losses capped at the baseline.
    Where there is no way to go, nothing is decided."""
    seeds = [seed for seed in one.seeds if seed in start.samples and seed in end.samples]
    values, reasons = [], []
    for seed in seeds:
        samples = one.samples[seed], start.samples[seed], end.samples[seed]
        if not (samples[0].learned() or samples[2].learned()):
            reasons.append(f"neither learns with seed {seed}")
        value = share_of_way(*(sample.sign * sample.at() for sample in samples))
        if math.isnan(value):
            reasons.append(f"there is no gap to close with seed {seed}")
        values.append(value)
    return Compared(tuple(values), next(iter(reasons), ""))


def gain(one: Series) -> Compared:
    """How far a series is better than the baseline, seed by seed."""
    values = tuple(one.samples[seed].gain() for seed in one.seeds)
    return Compared(values, "the unigram baseline is not known" if any(map(math.isnan, values)) else "")


def named(one: Series, *keys: str) -> str:
    """A series by some of its settings, such as `learning_rate=0.0005`."""
    return ", ".join(f"{key}={_text(one.settings[key])}" for key in keys)


def telling(one: Series, among: Sequence[Series]) -> str:
    """A series by its rate and by the settings in which others that were chosen with it differ."""
    differing = [
        key for key in one.settings if key != "figures" and len({repr(other.settings.get(key)) for other in among}) > 1
    ]
    return named(one, *dict.fromkeys(["learning_rate", *differing]))


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _minus(one: float, other: float) -> float:
    """A difference, of which that of two infinite losses is not known."""
    return math.nan if math.isinf(one) and math.isinf(other) else one - other


def _is_settled(sample: Sample, within: float) -> bool:
    """Whether a run changes by no more than this in the last fifth of its epochs; one that diverged has come to its
    end."""
    if len(sample.values) < sample.epochs:
        return True
    before = sample.raw(math.floor(0.8 * sample.epochs) / sample.epochs)
    return sample.epochs > 1 and abs(sample.raw() - before) <= within


def _same_text(one: Series, other: Series) -> bool:
    return all(one.settings.get(key) == other.settings.get(key) for key in ("corpus", "text"))


def _is_superlative(value: float, word: str, values: Sequence[float]) -> bool:
    """Whether a setting is what a superlative says, among the values that there are."""
    lengths = [one for one in values if one > 1] if word in (LONGEST, SHORT) else values
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


def _has_all(one: Series, wanted: Mapping[str, Any]) -> bool:
    return all(_has(one.settings.get(key), value) for key, value in wanted.items())


def _has(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return value in wanted
    if wanted == NONE:
        return value is not None and bool(value <= 1)
    if wanted == SOME:
        return value is not None and bool(value > 1)
    return bool(value == wanted)
