"""T-Fixup: no norm, and weights that are small enough to do without (Huang et al., 2020, section 3).

It also makes the embeddings smaller. BERT's norm on them would undo that: give `embedding_norm: false`. The factors are
for matrices that are drawn with the gain 1, as with `projections: separate` and `initialisation: xavier`.
"""

from __future__ import annotations

from preln.placements.base import Function, Placement, Residual, Tensor


class TFixup(Residual):
    """x <- x + dropout(F(x)), with smaller matrices of F at first."""

    normalises_sum = False

    def build(self) -> None:
        """Nothing: neither a norm nor a parameter."""

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, sublayer(x))

    @property
    def initial_scale(self) -> float:
        """0.67 N^(-1/4) of the N layers of an encoder, (9 M)^(-1/4) of the M layers of a decoder."""
        depth = self.place.depth
        return float(0.67 * depth ** (-1 / 4) if self.place.stack == "encoder" else (9 * depth) ** (-1 / 4))


PLACEMENT = Placement(
    name="t-fixup",
    label="T-Fixup",
    source="Huang et al. (2020), ICML",
    residual=TFixup,
    embedding_scale=lambda encoder_layers, decoder_layers: float((9 * encoder_layers) ** (-1 / 4)),
    colour="#785ef0",
    marker="8",
    hatch="**",
    line=(0, (1, 1.5)),
)
