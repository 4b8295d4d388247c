"""Attention over all heads at once, on projections side by side from one matrix product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from preln.fused import native
from preln.fused.dropout import new_key


@dataclass(frozen=True)
class Padded:
    """The layout of sentences that are padded to one length: their vectors are of shape (batch, length, width).

    Attributes:
        seen: the positions that are attended to, as `visible` returns them; None for all.
    """

    seen: Tensor | None = None


@dataclass(frozen=True)
class Packed:
    """The layout of sentences that lie one after the other without padding: their vectors are of shape (rows, width).

    Attributes:
        offsets: the first row of each sentence, and the number of rows, of shape (sentences + 1,), as int32.
        longest: a number that no sentence's length exceeds.
    """

    offsets: Tensor
    longest: int


Layout = Padded | Packed
"""How sentences lie in a tensor of vectors. Attention alone needs to know; everything else in a layer computes each
vector by itself, whatever the shape (..., width)."""


def attend(
    projected: Tensor, of_source: Tensor | None, queries: Layout, keys: Layout, heads: int, causal: bool, p: float
) -> Tensor:
    """softmax(Q K^T / sqrt(d)) V of every head, with dropout's probability `p` on the weights.

    Args:
        projected: Q, K and V side by side, of shape (..., 3 width); with a source, only Q.
        of_source: K and V of the source side by side, of shape (..., 2 width).
        queries: how the sentences lie that attend.
        keys: how the sentences lie that are attended to, those of the source if there is one.
        heads: the number of heads, which divides the width.
        causal: whether a position sees only itself and earlier ones.

    Returns:
        The heads side by side, of shape (..., width).
    """
    if isinstance(keys, Packed):
        assert isinstance(queries, Packed), "the sentences of both sides are packed, or of neither"
        query, key, value = (
            x.unflatten(-1, (heads, -1))  # type: ignore[no-untyped-call]
            for x in _queries_keys_values(projected, of_source)
        )
        return _attend_packed(query, key, value, queries, keys, causal, p).flatten(-2)
    seen = keys.seen
    if native.takes(projected):
        attended: Tensor = _Attention.apply(projected, of_source, seen, heads, causal, p)  # type: ignore[no-untyped-call]
        return attended
    query, key, value = (
        x.reshape(*x.shape[:2], heads, -1).transpose(1, 2) for x in _queries_keys_values(projected, of_source)
    )
    attended = functional.scaled_dot_product_attention(query, key, value, seen, p, causal)
    return attended.transpose(1, 2).flatten(2)


def _attend_packed(
    query: Tensor, key: Tensor, value: Tensor, queries: Packed, keys: Packed, causal: bool, p: float
) -> Tensor:
    """Attention of packed sentences, whose vectors are of shape (rows, heads, width of a head)."""
    sizes: Any = (queries.offsets, keys.offsets, queries.longest, keys.longest, p)
    aten: Any = torch.ops.aten
    attended: Tensor
    if query.device.type == "cpu":
        # A CPU has no such kernel; it computes packed batches in tests and rehearsals only.
        attending, attended_to = (layout.offsets.diff().tolist() for layout in (queries, keys))
        heads_first = (
            x.transpose(0, 1).split(lengths, dim=1)  # type: ignore[no-untyped-call]
            for x, lengths in ((query, attending), (key, attended_to), (value, attended_to))
        )
        sentences = [
            functional.scaled_dot_product_attention(q, k, v, None, p, causal)
            for q, k, v in zip(*heads_first, strict=True)
            if q.numel()
        ]
        attended = torch.cat(sentences, dim=1).transpose(0, 1)
    elif query.dtype != torch.float32 and query.size(-1) % 8 == 0 and torch.cuda.get_device_capability() >= (8, 0):
        attended = aten._flash_attention_forward(query, key, value, *sizes, causal, False)[0]
    else:
        attended = aten._efficient_attention_forward(
            query[None], key[None], value[None], None, *sizes, int(causal), compute_log_sumexp=True
        )[0][0]
    return attended


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, of_source: Tensor | None, seen: Tensor | None, heads: int, causal: bool, p: float
    ) -> Tensor:
        # The gradients have the same strides, so these must be dense.
        projected, of_source = projected.contiguous(), None if of_source is None else of_source.contiguous()
        query, key, value = _queries_keys_values(projected, of_source)
        batch, length, width = query.shape
        out = query.new_empty(query.shape)
        if seen is None:
            seen = torch.tensor([0, key.size(1)]).expand(batch, 2)
        seen = seen.contiguous()
        ctx.shape = native.Attention(
            sentences=batch,
            heads=heads,
            width=width // heads,
            queries=length,
            keys=key.size(1),
            query_time=query.stride(1),
            query_sentence=query.stride(0),
            key_time=key.stride(1),
            key_sentence=key.stride(0),
            out_time=out.stride(1),
            out_sentence=out.stride(0),
            seen=seen.data_ptr(),
            causal=causal,
            scale=(width // heads) ** -0.5,
        )
        ctx.dropout = (new_key() if p else 0, p)
        native.call("preln_attend", out.dtype, query, key, value, out, ctx.shape, *ctx.dropout)
        ctx.save_for_backward(projected, of_source, seen)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None, None, None, None, None]:
        projected, of_source, _ = ctx.saved_tensors
        by_projected = torch.zeros_like(projected)
        by_source = None if of_source is None else torch.zeros_like(of_source)
        tensors = (
            *_queries_keys_values(projected, of_source),
            gradient.contiguous(),
            *_queries_keys_values(by_projected, by_source),
        )
        native.call("preln_attend_gradient", gradient.dtype, *tensors, ctx.shape, *ctx.dropout)
        return by_projected, by_source, None, None, None, None


def _queries_keys_values(projected: Tensor, of_source: Tensor | None) -> tuple[Tensor, ...]:
    return projected.chunk(3, dim=-1) if of_source is None else (projected, *of_source.chunk(2, dim=-1))


_ROW = 16
"""Alignment in numbers of a mask's rows on GPUs, whose attention copies other masks each time."""


def visible(padding: Tensor, like: Tensor) -> Tensor:
    """The positions that are attended to, for `attend` on tensors of the type and device of `like`.

    The compiled loops take the result of `words_between`, and PyTorch takes a mask that is added to the scores, of
    shape (batch, 1, 1, length). `padding`, of shape (batch, length), is true at padding, which is before all words or
    after them.
    """
    return words_between(padding) if native.takes(like) else mask_of(padding, like)


def mask_of(padding: Tensor, like: Tensor) -> Tensor:
    """The mask that is added to attention's scores to exclude padding, of shape (batch, 1, 1, length); `padding` and
    `like` are as for `visible`."""
    batch, length = padding.shape
    mask = like.new_zeros(batch, 1, 1, whole_rows(length))[..., :length]
    return mask.masked_fill_(padding[:, None, None], -torch.inf)


def whole_rows(length: int) -> int:
    """The aligned length of a mask's rows."""
    return -(-length // _ROW) * _ROW


def words_between(padding: Tensor) -> Tensor:
    """Each sentence's first word and the position after the last, of shape (batch, 2).

    `padding`, of shape (batch, length), is true at padding, which is before all words or after them.
    """
    words = (~padding).long()
    first = words.argmax(dim=1)
    return torch.stack([first, first + words.sum(dim=1)], dim=1)
