"""The norm of a gradient's expectation over mini-batches, without the bias from noise (section 3.4).

Figure 3 plots ||mean of g_b||. With B mini-batches, its square is too large:
E||mean of g_b||^2 = ||E g||^2 + tr(Cov g)/B. The inner products of different mini-batches' gradients have no such bias:
E<g_b, g_c> = ||E g||^2 for b != c. With S the sum of the gradients and Q the sum of their squared norms, the mean of
these products is (||S||^2 - Q) / (B (B - 1)).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

GROUPS = 8
"""Number of groups of mini-batches for the standard error; each costs the memory of one gradient."""


class Expectation:
    """Estimates of E g, in the shape of `like`, from the gradients g_1, g_2, ... of `batches` mini-batches, which are
    added one by one. No gradient is kept, only their sum in each of a few groups, and sums of squared norms."""

    def __init__(self, like: Tensor, batches: int) -> None:
        self._batches, self._count = batches, 0
        self._mean = torch.zeros_like(like)
        self._groups = min(GROUPS, batches)
        self._sums = [torch.zeros_like(like) for _ in range(self._groups)]
        self._squares = [0.0] * self._groups
        self._counts = [0] * self._groups
        self._norms = 0.0

    def add(self, gradient: Tensor) -> None:
        group = self._count % self._groups
        norm = float(gradient.norm())
        self._mean += gradient / self._batches
        self._sums[group] += gradient
        self._squares[group] += norm**2
        self._counts[group] += 1
        self._norms += norm
        self._count += 1

    @property
    def norm_of_mean(self) -> float:
        """||mean of g_b||, as the paper plots it."""
        return float(self._mean.norm())

    @property
    def mean_norm(self) -> float:
        return self._norms / self._count

    @property
    def square(self) -> float:
        """The unbiased estimate of ||E g||^2: negative if noise dominates, and NaN for a single mini-batch."""
        return _square(self._square_of_sum(), sum(self._squares), self._count)

    @property
    def error(self) -> float:
        """The standard error of `square`, by the jackknife over groups: 15% too large with 16 mini-batches, and NaN
        with fewer than three."""
        if self._groups < 3:
            return math.nan
        total = self._total()
        without = [
            _square(float((total - sum_).square().sum()), sum(self._squares) - square, self._count - count)
            for sum_, square, count in zip(self._sums, self._squares, self._counts, strict=True)
        ]
        mean = sum(without) / len(without)
        return math.sqrt((len(without) - 1) / len(without) * sum((value - mean) ** 2 for value in without))

    @property
    def noise(self) -> float:
        """sqrt(tr Cov g), the noise in a mini-batch's gradient; NaN for a single mini-batch."""
        if self._count < 2:
            return math.nan
        variance = (sum(self._squares) - self._square_of_sum() / self._count) / (self._count - 1)
        return math.sqrt(max(variance, 0.0))

    def _total(self) -> Tensor:
        return self._mean * self._batches

    def _square_of_sum(self) -> float:
        return float(self._total().square().sum())


def _square(square_of_sum: float, sum_of_squares: float, count: int) -> float:
    """The mean of <g_b, g_c> over b != c."""
    return (square_of_sum - sum_of_squares) / (count * (count - 1)) if count > 1 else math.nan
