"""Hooks that record a model's residual sums and its modules' inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from torch import Tensor, nn

from preln.theory.measurements import DELTA, EPSILON


def _keeping(kept: list[Tensor]) -> Any:
    """A hook that keeps a module's input or, behind the module, its output."""
    return lambda module, arguments, output=None: kept.append((arguments[0] if output is None else output).detach())


@contextmanager
def inputs_of(modules: Sequence[nn.Module]) -> Iterator[list[list[Tensor]]]:
    """Record each module's inputs within the block, in order."""
    seen: list[list[Tensor]] = [[] for _ in modules]
    with ExitStack() as until:
        for module, inputs in zip(modules, seen, strict=True):
            until.enter_context(module.register_forward_pre_hook(_keeping(inputs)))
        yield seen


@contextmanager
def sums_of(stack: Any) -> Iterator[list[list[Tensor]]]:
    """Record the residual sums after each layer of a stack within the block, in order, each of shape (..., width).

    Lemma 2 is about these sums: in Post-LN the layer's last LayerNorm takes the sum; in Pre-LN the layer returns it.
    """
    seen: list[list[Tensor]] = [[] for _ in stack.layers]
    with ExitStack() as until:
        for layer, sums in zip(stack.layers, seen, strict=True):
            connection = layer.feed_forward_residual
            if connection.normalises_sum:
                until.enter_context(connection.norm.register_forward_pre_hook(_keeping(sums)))
            else:
                until.enter_context(connection.register_forward_hook(_keeping(sums)))
        yield seen


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
    quantile = (
        values.quantile(1 - DELTA) if values.numel() <= 2**24 else np.quantile(values.numpy(force=True), 1 - DELTA)
    )
    return float(quantile / values.mean() - 1)
