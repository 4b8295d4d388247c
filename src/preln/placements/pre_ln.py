"""Pre-LN: LayerNorm on what a sub-layer is given."""

from __future__ import annotations

from fractions import Fraction

from preln.placements.base import Function, Placement, Predictions, Residual, Stack, Tensor


class PreLN(Residual):
    """x <- x + dropout(F(LayerNorm(x)))."""

    normalises_sum = False

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, sublayer(self.norm(x)))


def square_norm(layer: int, stack: Stack) -> tuple[float, float]:
    """Lemma 2: bounds of E||x^pre_{l+1}||^2 / d, of the sum that leaves the layer l = `layer`.

    The feed-forward sub-layer adds 1/2 and an attention sub-layer between 0 and 1. The paper's lemma is of encoder
    layers; a decoder layer has two attention sub-layers, and its band follows in the same way.
    """
    attention_sublayers = 1 if stack == "encoder" else 2
    return 1 + layer / 2, 1 + (attention_sublayers + 0.5) * layer


PLACEMENT = Placement(
    name="pre",
    label="Pre-LN",
    source="Table 1, right",
    residual=PreLN,
    # Without it Pre-LN is another model (Table 1, last line).
    final_norm=True,
    colour="#d55e00",
    marker="o",
    hatch="",
    line=(0, (3.5, 1.5)),
    predictions=Predictions(
        relu_square_norm=0.5, square_norm=square_norm, depth_exponent=Fraction(-1, 2), growth=lambda square_norm: 1.0
    ),
)
