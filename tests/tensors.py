"""Tensors that tests draw, and how they compare them."""

from typing import Any
from unittest import mock

import torch
from torch import Tensor

from preln.fused import native


def only(level: str) -> Any:
    """A context in which the loops of a level are what there is."""
    return mock.patch.object(native, "_LIBRARY", None if level == "none" else native._load(level))


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> Tensor:
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))
    return drawn.to(dtype).requires_grad_()


def gradients(output: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Gradients of the output's inner product with fixed random numbers."""
    weights = numbers(*output.shape, seed=7).detach().to(output.dtype)
    return torch.autograd.grad((output * weights).sum(), inputs)


def assert_equal(actual: Any, expected: Any, dtype: torch.dtype) -> None:
    """Equality up to rounding: for every element in fp32, and for the whole tensor in bf16."""
    if dtype == torch.float32:
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=2e-5)
        return
    pairs = [(actual, expected)] if isinstance(actual, Tensor) else zip(actual, expected, strict=True)
    for x, y in pairs:
        assert x.dtype == dtype
        assert (x.double() - y.double()).norm().item() <= 1.5e-2 * y.double().norm().item() + 1e-3


def in_doubles(*tensors: Tensor) -> list[Tensor]:
    return [x.detach().double().requires_grad_() for x in tensors]


def lowered(tensors: Any, dtype: torch.dtype) -> tuple[Tensor, ...]:
    return tuple(x.to(dtype) for x in tensors)
