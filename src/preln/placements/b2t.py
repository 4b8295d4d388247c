"""B2T connection: Post-LN whose layers also add what they are given to their last sum (Takase et al., 2023, section 4).

What a layer is given goes around all of its norms but the last. The authors' code also multiplies every matrix of a
layer by N^(-1/2) at first; the paper's equation does not have that, nor has this.
"""

from __future__ import annotations

from preln.placements.base import Function, Placement, Residual, Tensor


class B2T(Residual):
    """x <- LayerNorm(x + dropout(F(x))); of a layer's last sub-layer, x <- LayerNorm(b + x + dropout(F(x))), where b is
    the layer's input."""

    normalises_sum = True

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`; between sub-layers x and b, stacked, (2, ..., width)."""
        from torch import stack

        x, b = (x, x) if self.place.sublayer == self.place.sublayers[0] else x
        if self.place.sublayer == self.place.sublayers[-1]:
            return self.norm_of_sum(b + x, sublayer(x))
        return stack([self.norm_of_sum(x, sublayer(x)), b])


PLACEMENT = Placement(
    name="b2t",
    label="B2T",
    source="Takase et al. (2023), arXiv:2206.00330",
    residual=B2T,
    colour="#56b4e9",
    marker="P",
    hatch="xx",
    line=(0, (7, 1.5, 3, 1.5)),
)
