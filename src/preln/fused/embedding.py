"""Embeddings of tokens."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Embedding(nn.Embedding):
    """Embeddings whose gradient is exact in half precision too.

    On a CPU, torch sums a token's gradients over its positions in half precision. If a token occurs a thousand times in
    a batch, more than half can be lost."""

    def forward(self, tokens: Tensor) -> Tensor:
        """The embeddings of tokens of any shape, of shape (..., width)."""
        if self.weight.is_cuda or torch.finfo(self.weight.dtype).bits > 16:
            return super().forward(tokens)
        return functional.embedding(tokens, self.weight.float(), self.padding_idx).to(self.weight.dtype)
