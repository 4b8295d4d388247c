"""Runs that differ in the seed alone: chosen by their settings, paired with their like, and compared seed by seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from preln.report.core.labels import setting
from preln.report.core.statistics import mean, share_of_way
from preln.translation.report.budgets import read_at

K = TypeVar("K")
LOSS, BLEU = "valid_loss", "test_bleu"
NONE, SOME = "none", "some"
"""A warm-up of at most one update, which is at the peak at once, and a longer one."""
LONGEST, SHORT = "longest", "short"
"""The longest warm-up of the runs that have the other settings and the same text, and one that is not the longest."""
HIGHEST, LOWEST, LOWER, HIGHER = "highest", "lowest", "lower", "higher"
"""A rate among those of the runs with the other settings: one that is not the highest; the highest of several."""
SUPERLATIVES = (LONGEST, SHORT, HIGHEST, LOWEST, LOWER, HIGHER)
DECAY = ("anchor", "decay_period")
"""The settings of a decay that a run without a warm-up may have otherwise."""
SCHEDULE = ("schedule", *DECAY, "drop_epoch", "drop_factor")
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
        """Tell whether the run is better than the baseline. One that is not known is no objection."""
        return math.isnan(self.baseline) or self.gain(share) > 0

    def gain(self, share: float = 1.0) -> float:
        """How much better than the baseline it is."""
        return self.sign * (self.raw(share) - self.baseline)

    @property
    def sign(self) -> int:
        """The factor that makes the higher value the better one."""
        return -1 if self.lower_is_better else 1


Reader = Callable[[Sample], float]
"""Takes a number from a run."""


def after_epoch(epoch: int) -> Reader:
    """The number after one of a run's epochs, or the last one if it ended before."""
    return lambda sample: sample.values[epoch - 1] if len(sample.values) >= epoch else sample.raw()


def after_updates(updates: int) -> Reader:
    """The number after so many updates, or one more; the worst of a run that diverged before."""

    def read(sample: Sample) -> float:
        measured = zip(sample.updates, sample.values, strict=True)
        return next((value for update, value in measured if abs(update - updates) <= 1), sample.worst)

    return read


@dataclass(frozen=True)
class Series:
    """Runs that differ in the seed alone: their settings, and a sample of each seed."""

    settings: Mapping[str, Any]
    samples: Mapping[int, Sample]

    @property
    def seeds(self) -> list[int]:
        """The seeds, ascending."""
        return sorted(self.samples)

    def of(self, seeds: Iterable[int]) -> Series:
        """The series, of those of the seeds that it has."""
        return Series(self.settings, {seed: self.samples[seed] for seed in seeds if seed in self.samples})

    @property
    def values(self) -> list[float]:
        """The last value of each seed, capped at the baseline."""
        return [self.samples[seed].at() for seed in self.seeds]

    @property
    def recorded(self) -> list[float]:
        """The last value of each seed as it is recorded; infinite of a loss that diverged."""
        return [self.samples[seed].raw() for seed in self.seeds]

    @property
    def score(self) -> float:
        """The mean of the last values, of which a higher one is better."""
        return mean([sample.sign * sample.at() for sample in self.samples.values()])


def series(samples: Iterable[Sample]) -> list[Series]:
    """The samples by the settings that they share, in their order."""
    groups: dict[tuple[tuple[str, str], ...], tuple[Mapping[str, Any], dict[int, Sample]]] = {}
    for sample in samples:
        key = tuple((name, repr(value)) for name, value in sorted(sample.settings.items()))
        groups.setdefault(key, (sample.settings, {}))[1][sample.seed] = sample
    return [Series(settings, by_seed) for settings, by_seed in groups.values()]


def grouped(
    samples: Iterable[Sample],
    key: Callable[[Mapping[str, Any]], K | None],
    wanted: Mapping[str, Any],
    read: Reader | None = None,
) -> dict[K, Series]:
    """The samples by what `key` makes of their settings, whatever else they differ in; those of which it makes None are
    left out. Of a seed that two have, the first is taken.

    Args:
        samples: of all runs.
        key: what tells the groups apart.
        wanted: settings that a run must have, as of `where`, without superlatives.
        read: what takes a number from each run; by default its values stay.
    """
    groups: dict[K, dict[int, Sample]] = {}
    for sample in samples:
        group = key(sample.settings) if _has_all(sample.settings, wanted) else None
        if group is not None:
            number = replace(sample, values=(read(sample),), epochs=0) if read else sample
            groups.setdefault(group, {}).setdefault(sample.seed, number)
    return {group: Series({}, by_seed) for group, by_seed in groups.items()}


def where(runs: Sequence[Series], among: Sequence[Series] | None = None, /, **wanted: Any) -> list[Series]:
    """The series with some settings, each given as a value, a tuple of values or a word of this module. A superlative
    is among those of `among`, or of `runs`, that have the other settings, on the same text."""
    words = {key: value for key, value in wanted.items() if isinstance(value, str) and value in SUPERLATIVES}
    plain = {key: value for key, value in wanted.items() if key not in words}
    compared = [run for run in (runs if among is None else among) if _has_all(run.settings, plain)]

    def is_chosen(run: Series, key: str, word: str) -> bool:
        values = [rival.settings[key] for rival in compared if _same_text(rival, run)]
        return _is_superlative(run.settings[key], word, values)

    alike = (run for run in runs if _has_all(run.settings, plain))
    return [run for run in alike if all(is_chosen(run, *chosen) for chosen in words.items())]


def partner(
    runs: Sequence[Series], run: Series, chosen: Mapping[str, Any], differ: Iterable[str] = (), **wanted: Any
) -> Series | None:
    """The series that a series is compared with, on the seeds that both have: the best of those with the wanted
    settings that are alike in all else but the settings in `differ`; None where there is none.

    Args:
        runs: all series.
        run: the series.
        chosen: the settings that it was chosen by.
        differ: further settings in which the two may differ.
        wanted: as of `where`.
    """
    free = {*chosen, *wanted, *differ}
    alike = [
        rival.of(run.samples)
        for rival in runs
        if rival.samples.keys() & run.samples.keys()
        and rival.settings != run.settings
        and all(rival.settings[key] == value for key, value in run.settings.items() if key not in free)
    ]
    # A setting that a word chose in the run, such as its highest rate, is asked of its partner as a value.
    same = {key: value if value == NONE else run.settings[key] for key, value in chosen.items() if key not in {*differ}}
    # A study may have another longest warm-up at each rate.
    rates = () if "learning_rate" in {*wanted, *differ} else ("learning_rate",)
    among = [rival for rival in runs if all(rival.settings[key] == run.settings[key] for key in rates)]
    return max(where(alike, among, **{**same, **wanted}), key=lambda rival: rival.score, default=None)


def pairs(
    runs: Sequence[Series],
    chosen: Mapping[str, Any],
    differ: Iterable[str] = (),
    among: Sequence[Series] = (),
    **wanted: Any,
) -> Iterator[tuple[str, Series, Series]]:
    """Each series with the chosen settings, beside its partner, where it has one: its name among the chosen ones (or
    those of `among`), the series, and the partner. The arguments are those of `partner`."""
    selected = where(runs, **chosen)
    for run in selected:
        if rival := partner(runs, run, chosen, differ, **wanted):
            yield telling(run, among or selected), run, rival


@dataclass(frozen=True)
class Compared:
    """Series beside each other: a value of each seed that all have, and why that decides nothing, if it does."""

    values: tuple[float, ...]
    undecided: str = ""


def difference(
    run: Series, rival: Series, *, share: float = 1.0, equal_rates: bool = False, settled: float | None = None
) -> Compared:
    """One series minus another, seed by seed, with losses capped at the unigram baseline.

    Args:
        run: the series.
        rival: that is taken off it.
        share: of its epochs, after which the series is read; at most as many epochs as the rival has.
        equal_rates: whether the rival is read where it has spent the sum of rates that the series spends in all, if it
            spends more.
        settled: by how much each may still change in the last fifth of its epochs; beyond it nothing is decided.
    """
    reasons, values = [], []
    for seed, (sample, against) in _by_seed(run, rival):
        upto = share if not sample.epochs or sample.epochs <= against.epochs else share * against.epochs / sample.epochs
        value = against.at()
        if equal_rates and sample.sums and against.sums and sample.sums[-1] < against.sums[-1]:
            value = against.at_sum(sample.sums[-1])
            if math.isnan(value):
                reasons.append("the other spends more before its first epoch ends")
        if not (sample.learned(upto) or against.learned()):
            reasons.append(f"neither learns with seed {seed}")
        if settled is not None and not (_is_settled(sample, settled) and _is_settled(against, settled)):
            reasons.append(f"a loss still changes by more than {settled:g} in the last fifth")
        both_infinite = math.isinf(sample.at(upto)) and math.isinf(value)
        values.append(math.nan if both_infinite else sample.at(upto) - value)
    return Compared(tuple(values), next(iter(reasons), ""))


def difference_at(total: Callable[[Sample, Sample], float], run: Series, rival: Series) -> Compared:
    """One series minus another, seed by seed, where both have spent a sum of rates, which `total` takes from them."""
    reasons, values = [], []
    for seed, (sample, against) in _by_seed(run, rival):
        spent = total(sample, against)
        values.append(sample.at_sum(spent) - against.at_sum(spent))
        if not (sample.learned() or against.learned()):
            reasons.append(f"neither learns with seed {seed}")
    return Compared(tuple(values), next(iter(reasons), ""))


def spent_by_both(first: Sample, second: Sample) -> float:
    """The smaller of the sums of rates that two runs spend in all. One that diverged has spent none of them, and counts
    with its loss at the end."""
    return min((sample.sums[-1] for sample in (first, second) if sample.sums), default=0.0)


def ratio(run: Series, rival: Series) -> Compared:
    """One series over another, seed by seed."""
    numbers = [(sample.at(), against.at()) for _, (sample, against) in _by_seed(run, rival)]
    values = [math.nan if math.isinf(value) and math.isinf(over) else value / over for value, over in numbers]
    return Compared(tuple(values), "neither comes so far" if any(map(math.isnan, values)) else "")


def share(run: Series, start: Series, end: Series) -> Compared:
    """How much of the way from `start` to `end` a series has gone, seed by seed, with losses capped at the baseline.
    Where there is no way to go, nothing is decided."""
    values, reasons = [], []
    for seed, samples in _by_seed(run, start, end):
        if not (samples[0].learned() or samples[2].learned()):
            reasons.append(f"neither learns with seed {seed}")
        value = share_of_way(*(sample.sign * sample.at() for sample in samples))
        if math.isnan(value):
            reasons.append(f"there is no gap to close with seed {seed}")
        values.append(value)
    return Compared(tuple(values), next(iter(reasons), ""))


def gain(run: Series) -> Compared:
    """How far a series is better than the baseline, seed by seed."""
    values = tuple(run.samples[seed].gain() for seed in run.seeds)
    return Compared(values, "the unigram baseline is not known" if any(map(math.isnan, values)) else "")


def compared(how: Callable[..., Compared], runs: Mapping[K, Series], *groups: K) -> Compared | None:
    """Groups of runs beside each other, by such as `difference`; None where one is not there."""
    return how(*(runs[group] for group in groups)) if all(group in runs for group in groups) else None


def telling(run: Series, among: Sequence[Series]) -> str:
    """Name a series by its rate and by the settings in which others that were chosen with it differ."""
    differing = [
        key for key in run.settings if key != "figures" and len({repr(rival.settings.get(key)) for rival in among}) > 1
    ]
    chosen = {key: run.settings[key] for key in ("learning_rate", *differing)}
    return ", ".join(setting(key, value) for key, value in chosen.items())


def _by_seed(first: Series, *others: Series) -> Iterator[tuple[int, list[Sample]]]:
    for seed in first.seeds:
        if all(seed in run.samples for run in others):
            yield seed, [run.samples[seed] for run in (first, *others)]


def _is_settled(sample: Sample, within: float) -> bool:
    """Tell whether a run changes by no more than this in the last fifth of its epochs; one that diverged is at rest."""
    if len(sample.values) < sample.epochs:
        return True
    before = sample.raw(math.floor(0.8 * sample.epochs) / sample.epochs)
    return sample.epochs > 1 and abs(sample.raw() - before) <= within


def _same_text(run: Series, rival: Series) -> bool:
    return all(run.settings.get(key) == rival.settings.get(key) for key in ("corpus", "text"))


def _is_superlative(value: float, word: str, values: Sequence[float]) -> bool:
    """Tell whether a setting is what a superlative says, among the values that there are."""
    lengths = [length for length in values if length > 1] if word in (LONGEST, SHORT) else values
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


def _has_all(settings: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_has(settings.get(key), value) for key, value in wanted.items())


def _has(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return value in wanted
    if wanted in (NONE, SOME):
        return value is not None and (value > 1) == (wanted == SOME)
    return bool(value == wanted)
