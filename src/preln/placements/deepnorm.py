"""DeepNorm: Post-LN with a larger x and smaller weights, by the depths (Wang et al., 2022, DeepNet, section 3).

The paper scales W^1, W^2, W^V and W^O by beta after Xavier's draw with the gain 1. fairseq draws W^V with the gain
1/sqrt(2), and W^1 and W^2 by another rule; with `projections: separate` and `initialisation: xavier` the draws are the
paper's.
"""

from __future__ import annotations

from preln.placements.base import Function, Placement, Residual, Tensor


class DeepNorm(Residual):
    """x <- LayerNorm(alpha x + dropout(F(x)))."""

    normalises_sum = True

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.norm_of_sum(self.alpha * x, sublayer(x))

    @property
    def alpha(self) -> float:
        """By the layers N of the encoder and M of the decoder (figure 2 of the paper)."""
        n, m = self.place.encoder_layers, self.place.decoder_layers
        if not m:
            return float((2 * n) ** (1 / 4))
        return float(0.81 * (n**4 * m) ** (1 / 16) if self.place.stack == "encoder" else (3 * m) ** (1 / 4))

    @property
    def initial_scale(self) -> float:
        """The paper's beta, likewise."""
        n, m = self.place.encoder_layers, self.place.decoder_layers
        if not m:
            return float((8 * n) ** (-1 / 4))
        return float(0.87 * (n**4 * m) ** (-1 / 16) if self.place.stack == "encoder" else (12 * m) ** (-1 / 4))


PLACEMENT = Placement(
    name="deepnorm",
    label="DeepNorm",
    source="Wang et al. (2022), arXiv:2203.00555",
    residual=DeepNorm,
    colour="#332288",
    marker="d",
    hatch="++",
    line=(0, (10, 1.5)),
)
