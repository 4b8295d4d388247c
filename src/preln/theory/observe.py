"""Hooks that record a model's residual sums and its modules' inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from torch import Tensor, nn

from preln.theory.measurements import DELTA, EPSILON


@contextmanager
def inputs_of(modules: Sequence[nn.Module]) -> Iterator[list[list[Tensor]]]:
    """Record each module's inputs within the block, in order."""
    seen: list[list[Tensor]] = [[] for _ in modules]

    def remember(inputs: list[Tensor]) -> Any:
        return lambda module, arguments: inputs.append(arguments[0].detach())

    handles = [module.register_forward_pre_hook(remember(inputs)) for module, inputs in zip(modules, seen, strict=True)]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def sums_of(stack: Any) -> Iterator[list[list[Tensor]]]:
    """Record the residual sums after each layer of a stack within the block, in order, each of shape (..., width).

    Lemma 2 is about these sums: in Post-LN the layer's last LayerNorm takes the sum; in Pre-LN the layer returns it.
    """
    with ExitStack() as until:
        yield [until.enter_context(_sums_of(layer.feed_forward_residual)) for layer in stack.layers]


@contextmanager
def _sums_of(connection: Any) -> Iterator[list[Tensor]]:
    """Record the sums of a residual connection."""
    if connection.normalises_sum:
        with inputs_of([connection.norm]) as (seen,):
            yield seen
        return
    seen = []
    handle = connection.register_forward_hook(lambda module, arguments, output: seen.append(output.detach()))
    try:
        yield seen
    finally:
        handle.remove()


def square_norms(x: Tensor) -> Tensor:
    """||x||^2 / d for each vector in `x`, of shape (..., d)."""
    return x.square().mean(dim=-1)


def excess_share(values: Tensor, mean: float) -> float:
    """The share of values above (1 + epsilon) times the mean: the delta of definition 1."""
    return float((values > (1 + EPSILON) * mean).float().mean())


def excess_quantile(values: Tensor) -> float:
    """The excess over the mean, relative to it, that a share of delta of the values exceeds: the epsilon of definition
    1."""
    # torch's quantile takes at most 2^24 values; numpy's differs in the last digits.
    quantile = values.quantile(1 - DELTA) if values.numel() <= 2**24 else np.quantile(values.numpy(), 1 - DELTA)
    return float(quantile / values.mean() - 1)
