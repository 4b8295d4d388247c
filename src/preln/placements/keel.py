"""Keel: Post-LN with a larger x, and a norm on what a sub-layer is given (Chen and Wei, 2026, section 3)."""

from __future__ import annotations

from preln.placements.base import Function, Placement, Predictions, Residual, Tensor


class Keel(Residual):
    """x <- LayerNorm(alpha x + dropout(F(LayerNorm(x)))), where alpha is the number of the stack's sub-layers."""

    normalises_sum = True

    def build(self) -> None:
        """Two norms."""
        super().build()
        self.before = self.shape.new_norm()

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.norm_of_sum(self.alpha * x, sublayer(self.before(x)))

    @property
    def alpha(self) -> int:
        """The sub-layers of the stack."""
        return self.place.depth * len(self.place.sublayers)


PLACEMENT = Placement(
    name="keel",
    label="Keel",
    source="Chen and Wei (2026), arXiv:2601.19895",
    residual=Keel,
    colour="#aa4499",
    marker="H",
    hatch="OO",
    line=(0, (12, 1.5, 1, 1.5)),
    predictions=Predictions(relu_square_norm=0.5),
)
