"""The gradients in figure 3, for every weight matrix of a model as it is trained, on mini-batches of its training text.

Each mini-batch takes one forward and one backward pass for all matrices, and no gradient is kept. With B batches of t
tokens and P weights this costs about 3 P B t multiplications and additions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from preln.errors import PrelnError
from preln.theory.expectation import Expectation
from preln.theory.measurements import Measurement
from preln.theory.observe import excess_quantile, excess_share, square_norms, sums_of

if TYPE_CHECKING:
    from preln.fairseq_plugin.probe import Probe
    from preln.language.probe import Probe as LanguageProbe


@dataclass(frozen=True)
class Matrix:
    """A weight matrix: its stack (empty if none), its layer, counted from 1 (None if none), its name in the paper, and
    the parameter."""

    stack: str
    layer: int | None
    name: str
    weight: nn.Parameter


def measure(probe: Probe | LanguageProbe, batches: int, base: Measurement) -> Iterator[Measurement]:
    """The norms of a model's gradients and hidden states; `base` describes the model.

    The `expected_gradient_norm` is ||mean_b g_b||_F, which the paper plots: the norm of the mean over mini-batches.
    `preln.theory.expectation` explains its bias and the other quantities.

    Raises:
        PrelnError: if an epoch has fewer mini-batches.
    """
    matrices = probe.matrices()
    weights = [matrix.weight for matrix in matrices]
    expectations = [Expectation(weight.detach(), batches) for weight in weights]
    hidden: dict[str, list[list[Tensor]]] = {}
    measured = 0
    for batch in probe.batches(batches):
        measured += 1
        loss, norms = loss_and_square_norms(probe, batch)
        for stack, layer_norms in norms.items():
            for layer, values in zip(hidden.setdefault(stack, [[] for _ in layer_norms]), layer_norms, strict=True):
                layer.append(values)
        for expectation, gradient in zip(expectations, torch.autograd.grad(loss, weights), strict=True):
            expectation.add(gradient)
    if measured < batches:
        raise PrelnError(
            f"theory.gradients.batches: {batches}, but an epoch of the text has {measured} mini-batches; allowed: "
            f"{measured} or fewer; or use a larger text or a smaller batch_tokens"
        )
    for matrix, expectation in zip(matrices, expectations, strict=True):
        row = replace(base, stack=matrix.stack, layer=matrix.layer, matrix=matrix.name)
        yield replace(row, quantity="expected_gradient_norm", value=expectation.norm_of_mean)
        yield replace(row, quantity="mean_gradient_norm", value=expectation.mean_norm)
        if batches > 1:
            yield replace(row, quantity="gradient_square", value=expectation.square)
            yield replace(row, quantity="gradient_noise", value=expectation.noise)
        if batches > 2:
            yield replace(row, quantity="gradient_square_error", value=expectation.error)
    for stack, layers in hidden.items():
        for number, parts in enumerate(layers, start=1):
            values = torch.cat(parts)
            row = replace(base, stack=stack, layer=number)
            yield replace(row, quantity="square_norm", value=float(values.mean()))
            yield replace(row, quantity="excess_share", value=excess_share(values, float(values.mean())))
            yield replace(row, quantity="excess_quantile", value=excess_quantile(values))


def loss_and_square_norms(probe: Probe | LanguageProbe, batch: Any) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """A batch's loss, and each word's ||x||^2 / d by stack and layer, for the residual sum x after the layer."""
    with ExitStack() as until:
        sums = {name: until.enter_context(sums_of(stack)) for name, stack in probe.stacks.items()}
        loss = probe.loss(batch)
    return loss, {
        stack: [square_norms(x)[probe.words(batch, stack)] for (x,) in layers] for stack, layers in sums.items()
    }
