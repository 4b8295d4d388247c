"""A decoder-only language model, whole: embeddings, layers of attention and feed-forward, and the output.

Where the norms stand is the placement's matter (`preln.placements`): a layer hands each sub-layer F to a residual
connection. Nothing here has a bias but LayerNorm. With `precision: bf16`, sub-layers, with the norms inside of them,
and the output's product are in bf16; the residual stream, the norms around sub-layers and the weights stay in fp32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from preln.config.language import LanguageSettings
from preln.fused import products
from preln.fused.dropout import Dropout
from preln.fused.qk_norm import QKNorm
from preln.placements import PLACEMENTS
from preln.placements.base import Place, Residual, Shape, Sublayer, as_it_is, profiling

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Linear(nn.Linear):
    """x W^T, in the type of `x`."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x`, of shape (..., inputs), to (..., outputs)."""
        return products.linear(x, self.weight.to(x.dtype), None)


class Rotation(nn.Module):
    """RoPE (Su et al., 2021): position t turns the pair (i, i + w/2) of a head's w numbers by the angle
    t 10000^(-2i/w)."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        frequencies = 10_000.0 ** -(torch.arange(0, width, 2) / width)
        angles = torch.outer(torch.arange(length), frequencies).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.cos: Tensor
        self.sin: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """Turn `x`, of shape (..., positions, width)."""
        left, right = x.chunk(2, dim=-1)
        cos, sin = self.cos[: x.size(-2)], self.sin[: x.size(-2)]
        return (x * cos + torch.cat([-right, left], dim=-1) * sin).to(x.dtype)


class Attention(nn.Module):
    """Causal self-attention of several heads."""

    def __init__(self, settings: LanguageSettings) -> None:
        super().__init__()
        width = settings.width
        self.heads = settings.heads
        self.query, self.key, self.value, self.output = (Linear(width, width) for _ in range(4))
        self.qk_norm = QKNorm(width, self.heads) if settings.qk_norm else None
        is_rotated = settings.positions == "rope"
        self.rotation = Rotation(width // self.heads, settings.sequence_length) if is_rotated else None

    def forward(self, h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
        """Attention's output for `h`, of shape (batch, length, width); `inside` is applied before W^O."""
        weight = torch.cat([self.query.weight, self.key.weight, self.value.weight])
        projected = products.linear(h, weight.to(h.dtype), None)
        if self.qk_norm is not None:
            projected = self.qk_norm(projected, "qkv").to(h.dtype)
        batch, length, _ = h.shape
        q, k, v = (x.view(batch, length, self.heads, -1).transpose(1, 2) for x in projected.chunk(3, dim=-1))
        if self.rotation is not None:
            q, k = self.rotation(q), self.rotation(k)
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        attended: Tensor = self.output(inside(heads.transpose(1, 2).flatten(2)).to(h.dtype))
        return attended


class FeedForward(nn.Module):
    """ReLU(x W^1) W^2, GELU(x W^1) W^2, or (x W^1 * SiLU(x W^3)) W^2."""

    def __init__(self, settings: LanguageSettings) -> None:
        super().__init__()
        width, inner = settings.width, settings.ffn_width
        self.w1, self.w2 = Linear(width, inner), Linear(inner, width)
        self.w3 = Linear(width, inner) if settings.feed_forward == "swiglu" else None
        self.activation = functional.relu if settings.feed_forward == "relu" else functional.gelu

    def forward(self, h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
        """The sub-layer's output for `h`, of shape (..., width); `inside` is applied before W^2."""
        x = self.w1(h)
        x = self.activation(x) if self.w3 is None else x * functional.silu(self.w3(h))
        fed: Tensor = self.w2(inside(x).to(h.dtype))
        return fed


class Layer(nn.Module):
    """Attention and feed-forward, each in the placement's residual connection."""

    def __init__(self, settings: LanguageSettings, number: int) -> None:
        super().__init__()
        placement, shape = PLACEMENTS[settings.placement], shape_of(settings)

        def residual(sublayer: Sublayer) -> nn.Module:
            # To a placement, a stack alone is an encoder.
            return placement.connection(shape, Place("encoder", number, sublayer, settings.layers, 0))

        self.attention, self.feed_forward = Attention(settings), FeedForward(settings)
        self.attention_residual, self.feed_forward_residual = residual("self-attention"), residual("feed-forward")
        self.dtype = TYPES[settings.precision]

    def forward(self, x: Tensor) -> Tensor:
        """`x`, of shape (batch, length, width), or of several streams, after the layer."""
        x = self.attention_residual(x, self.computed(self.attention))
        x = self.feed_forward_residual(x, self.computed(self.feed_forward))
        return x

    def computed(self, sublayer: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """F, computed in the run's type."""

        def compute(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            return sublayer(h.to(self.dtype), inside).to(h.dtype)

        return compute


class LanguageModel(nn.Module):
    """A language model of a run over a `vocabulary` of tokens.

    Embeddings are multiplied by the square root of the width, as in Vaswani et al. (2017): the stream begins with
    elements of variance 1, and the embeddings are of the size that the output needs.
    """

    def __init__(self, settings: LanguageSettings, vocabulary: int) -> None:
        super().__init__()
        width, placement, shape = settings.width, PLACEMENTS[settings.placement], shape_of(settings)
        self.settings = settings
        self.embedding = nn.Embedding(vocabulary, width)
        is_learned = settings.positions == "learned"
        self.position = nn.Parameter(torch.empty(settings.sequence_length, width)) if is_learned else None
        self.dropout = Dropout(settings.dropout)
        self.first_norm = shape.new_norm() if placement.embedding_norm else None
        self.layers = nn.ModuleList(Layer(settings, number) for number in range(1, settings.layers + 1))
        self.last_norm = placement.stack_norm(shape)
        self.output = Linear(width, vocabulary)
        if settings.tied:
            self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """The logits of each next token, of shape (batch, length, vocabulary), for `tokens` of shape (batch, length).

        `length` is at most the run's `sequence_length`.
        """
        logits: Tensor = self.output(self.states(tokens).to(TYPES[self.settings.precision]))
        return logits.float()

    def states(self, tokens: Tensor) -> Tensor:
        """The last hidden states, of shape (batch, length, width), of which the logits are a linear map."""
        x: Tensor = self.embedding(tokens) * self.settings.width**0.5
        if self.position is not None:
            x = x + self.position[: tokens.size(1)]
        x = self.dropout(x if self.first_norm is None else self.first_norm(x))
        for layer in self.layers:
            x = layer(x)
        if self.last_norm is not None:
            x = self.last_norm(x)
        return x

    @torch.no_grad()
    def initialise(self, tokens: Tensor) -> None:
        """Draw the weights from torch's generator: matrices by Xavier uniform, embeddings and positions from N(0, 1/d).

        With `initialisation: own`, the placement's scales follow, and its first pass, on `tokens` of shape (batch,
        length), which the training text has.
        """
        settings, placement = self.settings, PLACEMENTS[self.settings.placement]
        for name, weight in self.named_parameters():
            if name.startswith(("embedding", "position", "output")):
                nn.init.normal_(weight, std=settings.width**-0.5)
            elif weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
        if settings.initialisation == "common":
            return
        layer: Any
        for layer in self.layers:
            for linear in (layer.attention.value, layer.attention.output):
                linear.weight.mul_(layer.attention_residual.initial_scale)
            for linear in (layer.feed_forward.w1, layer.feed_forward.w2):
                linear.weight.mul_(layer.feed_forward_residual.initial_scale)
        if placement.embedding_scale is not None:
            self.embedding.weight.mul_(placement.embedding_scale(settings.layers, 0))
        if placement.profiled:
            with profiling([part for part in self.modules() if isinstance(part, Residual)]):
                self.eval()(tokens)
            self.train()


def shape_of(settings: LanguageSettings) -> Shape:
    """The shape that a model's residual connections share."""
    return Shape(settings.width, settings.ffn_width, settings.dropout, settings.norm)
