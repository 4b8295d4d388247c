"""Mix-LN: Post-LN in the first quarter of the layers, and Pre-LN behind them (Li et al., 2025, section 3)."""

from __future__ import annotations

from preln.placements.base import Function, Placement, Predictions, Residual, Tensor

SHARE = 0.25
"""The share of the layers that are Post-LN, the paper's choice; their number is rounded down."""


class MixLN(Residual):
    """x <- LayerNorm(x + dropout(F(x))) in the first quarter of the layers, then x <- x + dropout(F(LayerNorm(x)))."""

    def build(self) -> None:
        """One norm, wherever it stands."""
        super().build()
        self.normalises_sum = self.place.layer <= int(SHARE * self.place.depth)

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.norm_of_sum(x, sublayer(x)) if self.normalises_sum else self.sum(x, sublayer(self.norm(x)))


PLACEMENT = Placement(
    name="mix-ln",
    label="Mix-LN",
    source="Li et al. (2025), arXiv:2412.13795",
    residual=MixLN,
    final_norm=True,
    colour="#44aa99",
    marker="h",
    hatch="\\\\..",
    line=(0, (3, 1, 1, 1)),
    predictions=Predictions(relu_square_norm=0.5),
)
