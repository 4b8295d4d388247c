"""Sandwich-LN: LayerNorm on what a sub-layer is given, and on what it adds (Ding et al., 2021, CogView)."""

from __future__ import annotations

from preln.placements.base import Function, Placement, Residual, Tensor


class SandwichLN(Residual):
    """x <- x + dropout(LayerNorm(F(LayerNorm(x))))."""

    normalises_sum = False

    def build(self) -> None:
        """Two norms."""
        super().build()
        self.after = self.shape.new_norm()

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, self.after(sublayer(self.norm(x))))


PLACEMENT = Placement(
    name="sandwich",
    label="Sandwich-LN",
    source="Ding et al. (2021), CogView",
    residual=SandwichLN,
    final_norm=True,
    colour="#de8f05",
    marker="^",
    hatch="\\\\",
    line=(0, (6, 1.5, 1, 1.5)),
)
