"""The toy model of the paper's proofs (section 3.3): one head, W^Q = W^K = 0, matrices d x d, Xavier normal, biases 0.

With W^Q = W^K = 0, attention is uniform over all visible positions, and returns the mean of their values. Biases are
omitted, since they are 0. W^O is the identity, times the scale that a placement gives it. The residual connections are
those of the trained models. The proofs treat encoder layers; decoder layers, shown in figure 3, have the same matrices
and a second attention, over the encoder's output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn

from preln.config import Placement
from preln.placements import PLACEMENTS
from preln.placements.base import Place, Residual, Shape, Stack, Sublayer, as_it_is, profiling


def attend_to_all(h: Tensor) -> Tensor:
    """Uniform attention of every position to all positions of `h`, of shape (..., n, d)."""
    return h.mean(dim=-2, keepdim=True).expand_as(h)


def attend_to_past(h: Tensor) -> Tensor:
    """Uniform causal attention of every position to itself and earlier ones, as in a decoder."""
    positions = torch.arange(1, h.size(-2) + 1, dtype=h.dtype, device=h.device)
    return h.cumsum(dim=-2) / positions.unsqueeze(-1)


class ExactLayer(nn.Module):
    """Attention, whose place is `first`, in a decoder also cross-attention, and ReLU(x W^1) W^2."""

    def __init__(self, width: int, placement: Placement, first: Place, generator: Generator) -> None:
        super().__init__()

        def residual(sublayer: Sublayer) -> Any:
            return PLACEMENTS[placement].connection(Shape(width, width), replace(first, sublayer=sublayer))

        def xavier_normal(scale: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(width, width, generator=generator) * width**-0.5 * scale)

        self.attend = attend_to_all if first.stack == "encoder" else attend_to_past
        self.attention_residual = residual("self-attention")
        self.feed_forward_residual = residual("feed-forward")
        self.output_scale: float = self.attention_residual.initial_scale
        self.value = xavier_normal(self.output_scale)
        scale = self.feed_forward_residual.initial_scale
        self.w1, self.w2 = xavier_normal(scale), xavier_normal(scale)
        self.activation = nn.ReLU()
        if first.stack == "decoder":
            self.encoder_attention_residual = residual("cross-attention")
            self.encoder_output_scale: float = self.encoder_attention_residual.initial_scale
            self.encoder_value = xavier_normal(self.encoder_output_scale)

    def forward(self, x: Tensor, encoder_output: Tensor | None = None) -> Tensor:
        """Apply the layer to `x`, of shape (..., n, d), or (streams, ..., n, d) with several streams."""

        def attention(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            return inside(self.attend(h) @ self.value) * self.output_scale

        def feed_forward(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            return inside(self.activation(h @ self.w1)) @ self.w2

        x = self.attention_residual(x, attention)
        if encoder_output is not None:
            attended = encoder_output.mean(dim=-2, keepdim=True) @ self.encoder_value

            def encoder_attention(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
                return inside(attended).expand_as(h) * self.encoder_output_scale

            x = self.encoder_attention_residual(x, encoder_attention)
        x = self.feed_forward_residual(x, feed_forward)
        return x


class ExactStack(nn.Module):
    """L layers, with the placement's norms before the first and after the last. An encoder is alone unless it is
    `attended` to by a decoder, which is as deep."""

    def __init__(
        self,
        width: int,
        depth: int,
        placement: Placement,
        stack: Stack,
        generator: Generator,
        *,
        attended: bool = False,
    ) -> None:
        super().__init__()
        decoder_layers = depth if attended or stack == "decoder" else 0
        firsts = (Place(stack, number, "self-attention", depth, decoder_layers) for number in range(1, depth + 1))
        self.layers = nn.ModuleList(ExactLayer(width, placement, first, generator) for first in firsts)
        self._placement = PLACEMENTS[placement]
        self.first_norm = Shape(width, width).new_norm() if self._placement.embedding_norm else None
        self.layer_norm = self._placement.stack_norm(Shape(width, width))
        scale = self._placement.embedding_scale
        self._scale = 1.0 if scale is None else scale(depth, decoder_layers)

    @torch.no_grad()
    def profile(self, x: Tensor, encoder_output: Tensor | None = None) -> None:
        """Run the placement's profiling pass on `x`, if it has one."""
        if self._placement.profiled:
            with profiling([part for part in self.modules() if isinstance(part, Residual)]):
                self(x, encoder_output)

    def forward(self, x: Tensor, encoder_output: Tensor | None = None) -> Tensor:
        """Apply all layers to `x`, of shape (..., n, d)."""
        x = self._scale * x
        if self.first_norm is not None:
            x = self.first_norm(x)
        for layer in self.layers:
            x = layer(x, encoder_output)
        if self.layer_norm is not None:
            x = self.layer_norm(x)
        return x


def sequence_loss(states: Tensor, labels: Tensor, output: Tensor) -> Tensor:
    """The loss in the proofs: the mean over positions of -log softmax_y(W^emb x), in nats, for the states x, of shape
    (n, d), the labels y, of shape (n,), and W^emb, of shape (vocabulary, d)."""
    return nn.functional.cross_entropy(states @ output.T, labels)
