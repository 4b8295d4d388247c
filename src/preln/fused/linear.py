"""A linear map whose weights are laid out once, for the many small products of a beam search.

Libraries lay out a product's weights again each time, which for some hundred rows costs as much as the product itself.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from preln.fused import native


class Linear:
    """x W^T + b for weights of shape (columns, inner) that do not change."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._weight, self._bias = weight, bias
        self._compiled = native.takes(weight) and weight.dtype == torch.float32
        if self._compiled:
            missing = -len(weight) % native.LANES
            panels = functional.pad(weight, (0, 0, 0, missing)).view(-1, native.LANES, weight.size(1))
            self._panels = panels.transpose(1, 2).contiguous()
            self._padded = functional.pad(weight.new_zeros(len(weight)) if bias is None else bias, (0, missing))

    def __call__(self, x: Tensor) -> Tensor:
        """Map `x`, of shape (..., inner), to (..., columns)."""
        if not self._compiled:
            return functional.linear(x, self._weight, self._bias)
        columns, inner = self._weight.shape
        out = x.new_empty(*x.shape[:-1], columns)
        sizes = (x.numel() // inner, inner, columns)
        native.call("preln_linear", x.dtype, x.contiguous(), self._panels, self._padded, out, *sizes)
        return out
