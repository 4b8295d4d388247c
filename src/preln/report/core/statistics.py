"""Means over seeds with their intervals, and the exponent of a power law.

It is computed by what gives the same digits on every processor, which numpy's logarithms and LAPACK's fits do not:
Python's own arithmetic, sums that are rounded once, and logarithms in decimals."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean, linear_regression

CONFIDENCE = 0.95
SEEDS = 3
"""The seeds from which on a comparison holds or fails."""
LEARNED = 0.3
"""Bits a token by which a run that has learned something ends below the unigram baseline, at least."""


@dataclass(frozen=True)
class Estimate:
    """The mean of `n` independent values, and the ends of its 95% interval (Student's t), or the lowest and the highest
    value; one value has neither."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def half(self) -> float:
        """Half of the interval; NaN of one value."""
        return self.high - self.mean


def plus_minus(number: float, error: float, form: str = "#.3g", error_form: str = ".2g") -> str:
    """A number and its error for readers; one whose error is NaN stands alone."""
    return f"{number:{form}}" + ("" if math.isnan(error) else f" ± {error:{error_form}}")


def mean(values: Collection[float]) -> float:
    """The mean of the values, whatever their order; NaN of none."""
    return fmean(values) if len(values) else math.nan


def has_learned(loss: float, baseline: float) -> bool:
    """True of a run that ends at least `LEARNED` below the unigram baseline; not of one without a loss."""
    return loss <= baseline - LEARNED


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of the values, one for each seed, with its interval."""
    middle, n = mean(values), len(values)
    if n < 2:
        return Estimate(middle, math.nan, math.nan, n)
    # Imported for several seeds alone: it takes as long as a table to make, and scipy.stats three times that.
    from scipy.special import stdtrit

    deviation = math.sqrt(math.fsum((value - middle) * (value - middle) for value in values) / (n - 1))
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * deviation / math.sqrt(n)
    return Estimate(middle, middle - half, middle + half, n)


def log_estimate(values: Sequence[float]) -> Estimate:
    """The geometric mean of ratios, one for each seed, with the interval of the mean of their logarithms; no numbers
    where a ratio is not above zero."""
    if not all(value > 0 for value in values):
        return Estimate(math.nan, math.nan, math.nan, len(values))
    if len(values) > 1 and len(set(values)) == 1:
        # The logarithm and back would not give it in all its digits.
        return estimate(values)
    of_logarithms = estimate(_logarithms(values))
    middle, low, high = (math.exp(value) for value in (of_logarithms.mean, of_logarithms.low, of_logarithms.high))
    return Estimate(middle, low, high, of_logarithms.n)


def extent(values: Sequence[float]) -> Estimate:
    """The mean of the values, one for each seed, with the lowest and the highest of them."""
    low, high = (min(values), max(values)) if len(values) > 1 else (math.nan, math.nan)
    return Estimate(mean(values), low, high, len(values))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the mean's interval, as seaborn asks for an error bar; a single value has none."""
    band = estimate(values)
    return (band.mean, band.mean) if band.n < 2 else (band.low, band.high)


def share_of_way(value: float, first: float, last: float) -> float:
    """The share of the way up from `first` to `last` that lies before `value`; NaN where there is no way up."""
    if math.isinf(first) and math.isfinite(last):
        # An infinite way: a value that is finite has gone all of it, and another nothing.
        return 1.0 if math.isfinite(value) else 0.0
    return (value - first) / (last - first) if last > first else math.nan


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The k of y = c x^k, by least squares of the logarithms."""
    return linear_regression(_logarithms(x), _logarithms(y)).slope


def _logarithms(values: Sequence[float]) -> list[float]:
    return [float(Decimal(float(value)).ln()) for value in values]
