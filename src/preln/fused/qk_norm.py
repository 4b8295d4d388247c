"""QK-norm: queries and keys of length 1, and a learnable factor in place of 1/sqrt(d) (Henry et al., 2020)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class QKNorm(nn.Module):
    """Scores g cos(q, k) in place of <q, k> / sqrt(d), where d is the width of a head.

    The factor g is learnt, one for all heads. It is initialised to sqrt(d), which gives random queries and keys the
    same spread of scores as without QK-norm; Henry et al. initialise it by the length of the text.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads, self._root = heads, (width // heads) ** 0.5
        self.scale = nn.Parameter(torch.tensor([self._root]))

    def forward(self, projected: Tensor, names: str) -> Tensor:
        """Normalise projections side by side, of shape (..., width times their number), for an attention that divides
        scores by sqrt(d). `names` names the projections, such as qkv; values are unchanged."""
        parts = []
        for name, part in zip(names, projected.chunk(len(names), dim=-1), strict=True):
            if name in "qk":
                heads = part.unflatten(-1, (self._heads, -1))  # type: ignore[no-untyped-call]
                part = functional.normalize(heads, dim=-1).flatten(-2)
            parts.append(part * (self.scale * self._root) if name == "q" else part)
        return torch.cat(parts, dim=-1)
