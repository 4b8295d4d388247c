"""Dropout, alone and within a residual sum."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from preln.fused import native

_KEYS = 2**63 - 1


def new_key() -> int:
    """A random key for a dropout mask, from PyTorch's generator, so that a resumed training has the same masks."""
    return int(torch.randint(_KEYS, ()).item())


def dropped_sum(x: Tensor, f: Tensor, p: float) -> Tensor:
    """x + dropout(f), for equal shapes: an element of `f` is 0 with probability `p`, and divided by 1 - p otherwise."""
    if p == 0.0:
        return x + f
    if native.takes(x, f):
        total: Tensor = _DroppedSum.apply(x, f, p)  # type: ignore[no-untyped-call]
        return total
    return x + functional.dropout(f, p)


def dropped(x: Tensor, p: float) -> Tensor:
    """dropout(x) with probability `p`, for `x` of any shape."""
    if p == 0.0:
        return x
    if native.takes(x):
        kept: Tensor = _DroppedSum.apply(None, x, p)  # type: ignore[no-untyped-call]
        return kept
    return functional.dropout(x, p)


class Dropout(nn.Module):
    """dropout(x) in training, and x otherwise."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return dropped(x, self.p if self.training else 0.0)


class _DroppedSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor | None, f: Tensor, p: float) -> Tensor:
        ctx.key, ctx.p = new_key(), p
        return _multiply(x, f, ctx)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None]:
        return gradient if ctx.needs_input_grad[0] else None, _multiply(None, gradient, ctx), None


def _multiply(x: Tensor | None, f: Tensor, ctx: Any) -> Tensor:
    f = f.contiguous()
    out = torch.empty_like(f)
    x = None if x is None else x.contiguous()
    native.call("preln_dropped_sum", f.dtype, x, f, out, f.numel(), ctx.key, ctx.p)
    return out
