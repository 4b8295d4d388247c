"""Means over seeds with their intervals, and the exponent of a power law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """The mean of `n` independent values, and the ends of its 95% interval (Student's t), or the lowest and the highest
    value; one value has neither."""

    mean: float
    low: float
    high: float
    n: int


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of the values, one for each seed, with its interval."""
    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return Estimate(mean, math.nan, math.nan, n)
    # Imported for several seeds alone: it takes as long as a table to make, and scipy.stats three times that.
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * float(np.std(values, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)


def extent(values: Sequence[float]) -> Estimate:
    """The mean of the values, one for each seed, with the lowest and the highest of them."""
    low, high = (min(values), max(values)) if len(values) > 1 else (math.nan, math.nan)
    return Estimate(float(np.mean(values)), low, high, len(values))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the mean's interval, as seaborn asks for an error bar; a single value has none."""
    found = estimate(values)
    return (found.mean, found.mean) if found.n < 2 else (found.low, found.high)


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """The k of y = c x^k, by least squares of the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), deg=1)[0])
