"""LayerNorm scaling: Pre-LN whose norms are the smaller the deeper they stand (Sun et al., 2025, section 4)."""

from __future__ import annotations

import math

from preln.placements.base import Function, Placement, Residual, Tensor


class LayerNormScaling(Residual):
    """x <- x + dropout(F(LayerNorm(x) / sqrt(l))), in the layer l."""

    normalises_sum = False

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, sublayer(self.norm(x) / math.sqrt(self.place.layer)))


PLACEMENT = Placement(
    name="lns",
    label="LayerNorm scaling",
    source="Sun et al. (2025), arXiv:2502.05795",
    residual=LayerNormScaling,
    final_norm=True,
    colour="#999933",
    marker="p",
    hatch="..",
    line=(0, (1, 1, 4, 1)),
)
