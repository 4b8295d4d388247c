"""Matrix products in bf16 on processors that are slow at them.

Without instructions for bf16, PyTorch's products take many times as long in bf16 as in fp32; with only Intel's
`avx512_bf16`, they still take longer. On such processors the factors are cast to fp32, which is exact, and the product
is rounded to bf16 once. (`Linear` of `preln.fused.search` is for the beam search, which is in fp32.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def is_slow_at_bf16(processor: Mapping[str, Any]) -> bool:
    """True if a processor multiplies matrices more slowly in bf16 than in fp32, by torch's description of it.

    False if it is unknown: not x86, or described by an older torch.
    """
    known = {"cpu_name", "amx_bf16", "avx512_bf16"} <= processor.keys()
    if processor.get("architecture") != "x86_64" or not known:
        return False
    is_intels = processor["cpu_name"].startswith("Intel")
    return not (processor["amx_bf16"] or (processor["avx512_bf16"] and not is_intels))


# Older versions of torch lack `get_capabilities`.
IN_FP32 = is_slow_at_bf16(torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {})
"""True if products in bf16 are computed in fp32 on this processor."""


def factor(x: Tensor) -> Tensor:
    """A factor in the type in which it is multiplied; the caller casts the product back."""
    return x.float() if _is_cast(x) else x


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`functional.linear`: `x` of shape (..., positions, inputs), `weight` of shape (outputs, inputs)."""
    if not _is_cast(x):
        return functional.linear(x, weight, bias)
    mapped: Tensor = _LinearInFp32.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return mapped


def _is_cast(x: Tensor) -> bool:
    return IN_FP32 and x.dtype == torch.bfloat16 and x.device.type == "cpu"


class _LinearInFp32(torch.autograd.Function):
    """Does not keep fp32 copies of the factors for backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return functional.linear(factor(x), factor(weight), None if bias is None else factor(bias)).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        has_x, has_weight, has_bias = ctx.needs_input_grad
        by_output = factor(gradient)
        rows = by_output.flatten(0, -2)
        return (
            (by_output @ factor(weight)).to(x.dtype) if has_x else None,
            (rows.T @ factor(x).flatten(0, -2)).to(x.dtype) if has_weight else None,
            rows.sum(0).to(x.dtype) if has_bias else None,
        )
