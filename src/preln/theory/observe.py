"""Looking into a model while it computes: its residual sums, and what its modules are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from torch import Tensor, nn

from preln.theory.closed_forms import EPSILON


@contextmanager
def inputs_of(modules: Sequence[nn.Module]) -> Iterator[list[list[Tensor]]]:
    """For each of the modules, the list of the inputs that it is given within the block, in order."""
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
    """For each layer of an encoder or a decoder, the list of the residual sums behind it that are computed within the
    block, in order, each of shape (..., width). Lemma 2 is about them: in Post-LN the layer's last LayerNorm takes the
    sum, in Pre-LN the sum is what the layer returns."""
    with ExitStack() as until:
        yield [until.enter_context(_sums_of(layer.feed_forward_residual)) for layer in stack.layers]


@contextmanager
def _sums_of(connection: Any) -> Iterator[list[Tensor]]:
    """Those of one residual connection."""
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
    """||x||^2 / d of each vector of `x`, of shape (..., d)."""
    return x.square().mean(dim=-1)


def excess_share(values: Tensor, mean: float, epsilon: float = EPSILON) -> float:
    """The share of the values that exceed the mean by more than `epsilon` of it: the delta of definition 1."""
    return float((values > (1 + epsilon) * mean).float().mean())


def excess_quantile(values: Tensor, delta: float) -> float:
    """How far the values exceed their mean, as a share of it, but for a share of `delta` of them: the epsilon of
    definition 1."""
    # torch's quantile takes no more values; numpy's has other last digits.
    whole = values.quantile(1 - delta) if values.numel() <= 2**24 else np.quantile(values.numpy(), 1 - delta)
    return float(whole / values.mean() - 1)
