"""Products of matrices in bf16, on processors that are slow at them.

Without instructions for bf16, PyTorch's products take many times as long in bf16 as in fp32. With Intel's `avx512_bf16`
alone, they still take longer. There the factors are widened to fp32, which is exact, and their product is rounded once,
as in bf16.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def is_slow_at_bf16(processor: Mapping[str, Any]) -> bool:
    """Whether a processor multiplies matrices more slowly in bf16 than in fp32, by what torch knows of it.

    Of one that is not x86 we do not know."""
    if processor.get("architecture") != "x86_64":
        return False
    is_intels = str(processor["cpu_name"]).startswith("Intel")
    return not (processor["amx_bf16"] or (processor["avx512_bf16"] and not is_intels))


# An older torch does not tell.
_WIDENS = is_slow_at_bf16(torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {})


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`functional.linear`: `x` of shape (..., inputs), `weight` of shape (outputs, inputs)."""
    if _widens(x):
        mapped: Tensor = _WidenedLinear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
        return mapped
    return functional.linear(x, weight, bias)


def product(a: Tensor, b: Tensor) -> Tensor:
    """a b, without a gradient."""
    return (a.float() @ b.float()).to(a.dtype) if _widens(a) else a @ b


def _widens(x: Tensor) -> bool:
    return _WIDENS and x.dtype == torch.bfloat16 and x.device.type == "cpu"


class _WidenedLinear(torch.autograd.Function):
    """It keeps the factors in bf16, so that it takes no more memory than without."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return functional.linear(x.float(), weight.float(), None if bias is None else bias.float()).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        by_x, by_weight, by_bias = ctx.needs_input_grad
        gradient = gradient.float()
        rows = gradient.flatten(0, -2)
        return (
            (gradient @ weight.float()).to(x.dtype) if by_x else None,
            (rows.T @ x.flatten(0, -2).float()).to(x.dtype) if by_weight else None,
            rows.sum(0).to(x.dtype) if ctx.has_bias and by_bias else None,
        )
