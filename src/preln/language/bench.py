"""The bench of language models: its model and grid, a placement's row in it, and the comparison of two rows.

The rule stands, with its date, in config/language-bench.yaml.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from preln.report.core.statistics import CONFIDENCE, Estimate, estimate, has_learned, mean

SETTINGS: dict[str, Any] = {
    **{"text": "english", "tokens": "bytes", "layers": 6, "width": 64, "ffn_width": 256, "heads": 4},
    **{"sequence_length": 64, "batch_sequences": 8, "schedule": "linear", "updates": 1000, "validate_every": 100},
    "valid_tokens": 16384,
}
"""The settings of every model of the bench, but for the placement, the rate, the warm-up and the seed."""
TEXTS = {"english": {"sources": [{"source": "embedded"}]}}
RATES = tuple(5e-4 * 2.0**step for step in range(7))
"""The rates of the grid, before it grows."""
GROWN_RATES = tuple(5e-4 * 2.0**step for step in range(-2, 9))
"""All rates to which the grid may grow."""
WARMUPS = (0, 50, 200)
SEEDS = tuple(range(1, 10))

MARGIN = 0.01
"""Bits a token by which an interval must lie beyond zero for two rows to be told apart."""
FIRST = (4e-3, 50)
"""The cell with which the search for a best one begins."""
FRESH = 4
"""Seeds of the best cell that did not choose it, before the rest of the grid is trained."""
TRIES = 20
FEWEST_TO_RENAME = 1 + FRESH + 2
"""Seeds of the whole grid of Pre-LN from which a renamed one can be drawn: both sides have two that are compared."""

Cell = tuple[float, int]
"""A peak rate and a warm-up, in updates."""
Verdict = Literal["ahead", "behind", "not told apart"]
WORDS: dict[Verdict, str] = {"ahead": "ahead of", "behind": "behind", "not told apart": "not told apart from"}
"""Each verdict before the name of what it is beside."""


@dataclass(frozen=True)
class Row:
    """A placement on the bench.

    Attributes:
        losses: the last validation losses in bits a token, by cell and seed; infinite of a run that diverged.
        baseline: the loss of the unigram baseline.
    """

    losses: Mapping[Cell, Mapping[int, float]]
    baseline: float

    def with_runs_of(self, other: Row) -> Row:
        """The row with the runs of another that it lacks."""
        cells = {*self.losses, *other.losses}
        losses = {cell: {**other.losses.get(cell, {}), **self.losses.get(cell, {})} for cell in cells}
        return Row(losses, self.baseline)

    def capped(self, cell: Cell, seed: int) -> float:
        """The loss of a run, or the unigram baseline where it is above that."""
        return min(self.losses[cell][seed], self.baseline)

    @property
    def common(self) -> list[int]:
        """The seeds that all cells have."""
        return sorted(set.intersection(*map(set, self.losses.values()))) if self.losses else []

    def of_seeds(self, seeds: Collection[int]) -> Row:
        """The row as these seeds alone have it."""
        chosen = {
            cell: {seed: loss for seed, loss in by_seed.items() if seed in seeds}
            for cell, by_seed in self.losses.items()
        }
        return Row({cell: by_seed for cell, by_seed in chosen.items() if by_seed}, self.baseline)

    def mean(self, cell: Cell) -> float:
        """The mean loss of a cell over the common seeds."""
        return mean([self.capped(cell, seed) for seed in self.common])

    def trains(self, cell: Cell) -> bool:
        """Tell whether every seed of a cell ends far enough below the unigram baseline."""
        return all(has_learned(loss, self.baseline) for loss in self.losses[cell].values())

    @property
    def best(self) -> Cell | None:
        """The cell with the lowest mean loss of those that train, or of all if none does; None where there is none."""
        return min(self.losses, key=lambda cell: (not self.trains(cell), self.mean(cell), cell), default=None)

    @property
    def is_settled(self) -> bool:
        """Tell whether others can be compared with the row: the cells beside the best one are there with its seeds, and
        it has two that count."""
        if self.best is None or not self.common or len(self.sample) < 2:
            return False
        return set(_neighbours(self.best)) <= self.losses.keys()

    @property
    def sample(self) -> list[float]:
        """The losses of the best cell: of the seeds that did not choose it, if there are two of them, or of all."""
        if self.best is None:
            return []
        seeds = sorted(self.losses[self.best])
        fresh = [seed for seed in seeds if seed not in self.common]
        return [self.capped(self.best, seed) for seed in (fresh if len(fresh) > 1 else seeds)]

    def at(self, factor: float) -> list[float]:
        """The loss of each common seed at a multiple of the best rate with the best warm-up, interpolated between the
        grid's rates in the logarithm of the rate; none beyond the grid."""
        if self.best is None:
            return []
        rate, warmup = self.best
        rates = sorted(peak for peak, length in self.losses if length == warmup)
        below = max((peak for peak in rates if peak <= factor * rate), default=None)
        above = min((peak for peak in rates if peak >= factor * rate), default=None)
        if below is None or above is None:
            return []
        share = math.log(factor * rate / below) / math.log(above / below) if above > below else 0.0
        return [
            (1 - share) * self.capped((below, warmup), seed) + share * self.capped((above, warmup), seed)
            for seed in self.common
        ]

    def limit(self, warmup: int) -> float | None:
        """The highest rate that trains with a warm-up, where a lower one does too."""
        training = sorted(peak for peak, length in self.losses if length == warmup and self.trains((peak, length)))
        return training[-1] if len(training) > 1 else None

    @property
    def gains(self) -> list[float]:
        """The gain of the warm-up in each common seed: the loss of the best cell without one minus that of the best
        cell with one; none where a side has no cell that trains."""
        sides = [
            [cell for cell in self.losses if (cell[1] > 0) == is_warm and self.trains(cell)]
            for is_warm in (False, True)
        ]
        if not all(sides):
            return []
        without, warm = (min(cells, key=self.mean) for cells in sides)
        return [self.capped(without, seed) - self.capped(warm, seed) for seed in self.common]


def difference(losses: Sequence[float], reference: Sequence[float]) -> Estimate:
    """The mean of the losses minus that of the reference, with the 95% interval of Welch's t; no interval if either has
    fewer than two."""
    from scipy.special import stdtrit

    middle = mean(losses) - mean(reference)
    if min(len(losses), len(reference)) < 2:
        return Estimate(middle, math.nan, math.nan, len(losses))
    parts = [_variance(sample) / len(sample) for sample in (losses, reference)]
    if not sum(parts):
        return Estimate(middle, middle, middle, len(losses))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(sample) - 1) for part, sample in zip(parts, (losses, reference), strict=True)
    )
    half = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(sum(parts))
    return Estimate(middle, middle - half, middle + half, len(losses))


def _variance(values: Sequence[float]) -> float:
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def verdict(apart: Estimate) -> Verdict:
    if apart.high < -MARGIN:
        return "ahead"
    return "behind" if apart.low > MARGIN else "not told apart"


def measured(row: Row, reference: Sequence[float]) -> dict[str, Any]:
    """The numbers of a row, and the verdict on it beside the losses of Pre-LN's best cell. Losses are in bits a token,
    and a name that ends in `half` has half of the 95% interval over the seeds; None stands for what is not known."""
    apart = difference(row.sample, reference) if row.sample and reference else Estimate(math.nan, math.nan, math.nan, 0)
    rate, warmup = row.best or (None, None)
    of_seeds = {
        **{"loss": row.sample, "loss_at_a_third": row.at(1 / 3), "loss_at_three_times": row.at(3)},
        "gain_of_warmup": row.gains,
    }
    numbers = {"difference": apart.mean, "low": apart.low, "high": apart.high}
    for name, values in of_seeds.items():
        over_seeds = estimate(values)
        numbers |= {name: over_seeds.mean, f"{name}_half": over_seeds.half}
    longest = max((length for _, length in row.losses), default=0)
    return {
        "learning_rate": rate,
        "warmup": warmup,
        "seeds": len(row.sample),
        **{name: number if math.isfinite(number) else None for name, number in numbers.items()},
        "verdict": verdict(apart),
        "highest_rate": row.limit(0),
        "highest_rate_with_warmup": row.limit(longest) if longest else None,
    }


def renamed(pre_ln: Row) -> int:
    """Bench Pre-LN under another name, and count the tries of `TRIES` in which it is not told apart from Pre-LN.

    Each try deals the recorded seeds out by chance: the first searches the renamed one's best cell, `FRESH` others are
    its losses there, and the rest are those of Pre-LN, as if they were the seeds of its whole grid. The row has
    `FEWEST_TO_RENAME` common seeds or more.
    """
    chance = Random(1)
    draws = (chance.sample(pre_ln.common, len(pre_ln.common)) for _ in range(TRIES))
    return sum(_is_together(pre_ln, draw) for draw in draws)


def _is_together(pre_ln: Row, draw: Sequence[int]) -> bool:
    """Tell whether Pre-LN is not told apart from itself in a draw of its seeds."""
    best = pre_ln.of_seeds(draw[:1]).best
    if best is None:
        raise ValueError("a row without a run")
    fresh = [pre_ln.capped(best, seed) for seed in draw[1 : 1 + FRESH]]
    return verdict(difference(fresh, pre_ln.of_seeds(draw[1 + FRESH :]).sample)) == "not told apart"


def wanted(row: Row) -> Iterator[tuple[Cell, int]]:
    """The runs that a placement's row still needs, the most urgent first, as cells and seeds.

    At first, the search for the best cell by the first seed: the neighbours of the best so far, from `FIRST` on. Then
    fresh seeds of the best cell, the rest of the grid, and more seeds.
    """
    first, best = SEEDS[0], row.best or FIRST
    searched = [(cell, first) for cell in (best, *_neighbours(best)) if first not in row.losses.get(cell, {})]
    yield from searched
    if searched:
        return
    fresh = SEEDS[1 : 1 + FRESH]
    grid = [(rate, warmup) for warmup in WARMUPS for rate in RATES]
    runs = [
        *((best, seed) for seed in fresh),
        *((cell, first) for cell in grid),
        *((best, seed) for seed in SEEDS),
        *((cell, seed) for seed in SEEDS[1:3] for cell in grid),
    ]
    yield from (run for run in dict.fromkeys(runs) if run[1] not in row.losses.get(run[0], {}))


def _neighbours(cell: Cell) -> Iterator[Cell]:
    """The cells beside one, in the grid to which it may grow."""
    rate, warmup = GROWN_RATES.index(cell[0]), WARMUPS.index(cell[1])
    for step in (-1, 1):
        if 0 <= rate + step < len(GROWN_RATES):
            yield GROWN_RATES[rate + step], cell[1]
        if 0 <= warmup + step < len(WARMUPS):
            yield cell[0], WARMUPS[warmup + step]
