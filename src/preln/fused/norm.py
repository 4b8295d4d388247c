"""LayerNorm and RMSNorm, alone and on a residual sum."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from preln.fused import native
from preln.fused.dropout import dropped_sum, new_key


class LayerNorm(nn.LayerNorm):
    """LayerNorm whose gain and bias have exact gradients in half precision too.

    On a CPU, torch sums these gradients over tokens in half precision: with 4,096 tokens, half of the bias's gradient
    can be lost."""

    def forward(self, x: Tensor) -> Tensor:
        # On a GPU, torch takes no input of another type than the gain's, as a norm inside a sub-layer in bf16 has.
        if x.dtype == self.weight.dtype and (x.is_cuda or torch.finfo(x.dtype).bits > 16):
            return super().forward(x)
        return functional.layer_norm(x, self.normalized_shape, eps=self.eps) * self.weight + self.bias


class RMSNorm(nn.Module):
    """x over its root mean square, times a gain (Zhang and Sennrich, 2019): LayerNorm without its mean and its bias."""

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.weight.shape, eps=self.eps) * self.weight


Norm = LayerNorm | RMSNorm
NORMS: dict[str, type[Norm]] = {"layer": LayerNorm, "rms": RMSNorm}
"""Norms by their names in a study."""


def norm_of_sum(x: Tensor, f: Tensor, p: float, norm: nn.LayerNorm | RMSNorm) -> Tensor:
    """norm(x + dropout(f)) with dropout's probability `p`, for `x` and `f` of shape (..., width)."""
    if isinstance(norm, RMSNorm):
        scaled: Tensor = norm(dropped_sum(x, f, p))
        return scaled
    # A norm with hooks is called as a module, so that they see the sum.
    if native.takes(x, f, norm.weight) and not norm._forward_pre_hooks:
        normal: Tensor = _NormOfSum.apply(x, f, norm.weight, norm.bias, p, norm.eps)  # type: ignore[no-untyped-call]
        return normal
    normal = norm(x + functional.dropout(f, p))
    return normal


class _NormOfSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, f: Tensor, gain: Tensor, bias: Tensor, p: float, epsilon: float) -> Tensor:
        x, f = x.contiguous(), f.contiguous()
        width = x.size(-1)
        rows = x.numel() // width
        total, out = torch.empty_like(x), torch.empty_like(x)
        moments = torch.empty(rows, 2)
        ctx.key, ctx.p = new_key() if p else 0, p
        sizes = (rows, width, epsilon, ctx.key, p)
        native.call("preln_norm_of_sum", x.dtype, x, f, gain, bias, total, out, moments, *sizes)
        ctx.save_for_backward(total, gain, moments)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None, None]:
        total, gain, moments = ctx.saved_tensors
        gradient = gradient.contiguous()
        rows, width = len(moments), len(gain)
        by_x, by_f = torch.empty_like(total), torch.empty_like(total)
        by_gain, by_bias = torch.zeros(2, torch.get_num_threads(), width)
        tensors = (gradient, total, gain, moments, by_x, by_f, by_gain, by_bias)
        native.call("preln_norm_of_sum_gradient", total.dtype, *tensors, rows, width, ctx.key, ctx.p)
        return by_x, by_f, by_gain.sum(0).to(gain.dtype), by_bias.sum(0).to(gain.dtype), None, None
