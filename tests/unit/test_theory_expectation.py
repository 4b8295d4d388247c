"""The unbiased norm of an expected gradient, on gradients whose expectation is known."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from preln.theory.expectation import Expectation

pytestmark = pytest.mark.numbers


def added(gradients: torch.Tensor) -> Expectation:
    """The gradients, the first dimension of a tensor, added one after the other."""
    expectation = Expectation(gradients[0], len(gradients))
    for gradient in gradients:
        expectation.add(gradient)
    return expectation


def draws(batches: int, seed: int, mean: float = 0.1, noise: float = 1.0, size: int = 50) -> torch.Tensor:
    """Gradients of expectation (mean, mean, ...) and covariance noise^2 I."""
    return mean + noise * torch.randn(batches, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(batches=st.integers(2, 20), seed=st.integers(0, 1000))
def test_it_is_the_mean_of_the_inner_products_of_different_gradients(batches: int, seed: int) -> None:
    gradients = draws(batches, seed)
    products = [float(a @ b) for a, b in itertools.permutations(gradients, 2)]
    assert added(gradients).square == pytest.approx(np.mean(products), rel=1e-9, abs=1e-9)


@given(batches=st.integers(2, 20), seed=st.integers(0, 1000))
def test_the_plotted_norm_and_the_noise_are_numpys(batches: int, seed: int) -> None:
    gradients = draws(batches, seed)
    result = added(gradients)
    assert result.norm_of_mean == pytest.approx(float(gradients.mean(0).norm()))
    assert result.mean_norm == pytest.approx(float(gradients.norm(dim=1).mean()))
    assert result.noise**2 == pytest.approx(np.trace(np.cov(gradients.numpy(), rowvar=False)))


@pytest.mark.slow
@pytest.mark.parametrize("batches", [64, 100])
def test_the_standard_error_is_the_spread_over_repetitions(batches: int) -> None:
    result = [added(draws(batches, seed, mean=0.3)) for seed in range(400)]
    spread = np.std([expectation.square for expectation in result])
    assert np.mean([expectation.error**2 for expectation in result]) ** 0.5 == pytest.approx(spread, rel=0.15)


def test_one_mini_batch_tells_nothing_of_an_expectation() -> None:
    result = added(draws(1, seed=1))
    assert math.isnan(result.square) and math.isnan(result.noise) and math.isnan(result.error)
