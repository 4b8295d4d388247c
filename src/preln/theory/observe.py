"""Looking into a model while it computes: what its LayerNorms and activations are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from preln.theory.closed_forms import EPSILON


def norms_of_sums(stack: Any) -> list[nn.Module]:
    """For each layer of an encoder or a decoder, the LayerNorm that takes the layer's residual sum, which lemma 2 is
    about.

    In Post-LN this is the layer's own last norm, in Pre-LN the next layer's first, or the final one.
    """
    if stack.layer_norm is None:
        return [layer.feed_forward_residual.norm for layer in stack.layers]
    return [*(layer.attention_residual.norm for layer in stack.layers[1:]), stack.layer_norm]


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


def square_norms(x: Tensor) -> Tensor:
    """||x||^2 / d of each vector of `x`, of shape (..., d)."""
    return x.square().mean(dim=-1)


def excess_share(values: Tensor, mean: float, epsilon: float = EPSILON) -> float:
    """The share of the values that exceed the mean by more than `epsilon` of it: the delta of definition 1."""
    return float((values > (1 + epsilon) * mean).float().mean())


def excess_quantile(values: Tensor, delta: float) -> float:
    """How far the values exceed their mean, as a share of it, but for a share of `delta` of them: the epsilon of
    definition 1."""
    return float(values.quantile(1 - delta) / values.mean() - 1)
