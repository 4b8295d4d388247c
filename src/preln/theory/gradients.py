"""The gradients of figure 3: of every weight matrix of the translation model, on mini-batches of its training text.

Each mini-batch is computed forward and backward once, for all matrices together; the mean over the batches is summed
up on the way, in the memory of one more gradient. With B batches of t tokens and P weights this costs about 3 P B t
multiplications and additions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from preln.theory.closed_forms import DELTA
from preln.theory.measurements import Measurement
from preln.theory.observe import excess_quantile, excess_share, inputs_of, norms_of_sums, square_norms

if TYPE_CHECKING:
    from preln.fairseq_plugin.probe import Probe

_STACKS = ("encoder", "decoder")


def measure(probe: Probe, batches: int, base: Measurement) -> Iterator[Measurement]:
    """The gradients' norms and the hidden states' of a model; `base` says which model it is.

    The `expected_gradient_norm` is ||mean_b g_b||_F, which the paper plots: each entry's expectation over the
    mini-batches first, then the norm. The `mean_gradient_norm` is mean_b ||g_b||_F.
    """
    matrices = probe.matrices()
    weights = [matrix.weight for matrix in matrices]
    mean = [torch.zeros_like(weight) for weight in weights]
    mean_norms = [0.0] * len(weights)
    hidden: dict[str, list[list[Tensor]]] = {}
    norms = {stack: norms_of_sums(getattr(probe.model, stack)) for stack in _STACKS}
    for batch in probe.batches(batches):
        with inputs_of(norms["encoder"]) as encoder_sums, inputs_of(norms["decoder"]) as decoder_sums:
            loss = probe.loss(batch)
        for stack, sums in zip(_STACKS, (encoder_sums, decoder_sums), strict=True):
            words = probe.words(batch, stack)
            layers = hidden.setdefault(stack, [[] for _ in sums])
            final = getattr(probe.model, stack).layer_norm
            for norm, layer, (x,) in zip(norms[stack], layers, sums, strict=True):
                # fairseq has its own vectors by position first.
                layer.append(square_norms(x.transpose(0, 1) if norm is final else x)[words])
        for i, gradient in enumerate(torch.autograd.grad(loss, weights)):
            mean[i] += gradient / batches
            mean_norms[i] += float(gradient.norm()) / batches
    for matrix, gradient, mean_norm in zip(matrices, mean, mean_norms, strict=True):
        row = replace(base, stack=matrix.stack, layer=matrix.layer, matrix=matrix.name)
        yield replace(row, quantity="expected_gradient_norm", value=float(gradient.norm()))
        yield replace(row, quantity="mean_gradient_norm", value=mean_norm)
    for stack, layers in hidden.items():
        for number, parts in enumerate(layers, start=1):
            values = torch.cat(parts)
            row = replace(base, stack=stack, layer=number)
            yield replace(row, quantity="square_norm", value=float(values.mean()))
            yield replace(row, quantity="excess_share", value=excess_share(values, float(values.mean())))
            yield replace(row, quantity="excess_quantile", value=excess_quantile(values, DELTA))
