"""Post-LN: LayerNorm on the sum of a sub-layer and its input."""

from __future__ import annotations

import math
from fractions import Fraction

from preln.placements.base import Function, Placement, Predictions, Residual, Stack, Tensor


class PostLN(Residual):
    """x <- LayerNorm(x + dropout(F(x)))."""

    normalises_sum = True

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.norm_of_sum(x, sublayer(x))


def square_norm(layer: int, stack: Stack) -> tuple[float, float]:
    """Lemma 2: E||x^{post,5}||^2 / d, of the sum that a layer's last LayerNorm takes, is 3/2 in every layer."""
    return 1.5, 1.5


PLACEMENT = Placement(
    name="post",
    label="Post-LN",
    source="Table 1, left",
    residual=PostLN,
    colour="#0173b2",
    marker="s",
    hatch="////",
    line="-",
    # Appendix F: with E||x||^2 = 3d/2, the gradient falls by (2/3)^{1/2} for each layer towards the input.
    predictions=Predictions(
        relu_square_norm=0.5, square_norm=square_norm, depth_exponent=Fraction(0), growth=math.sqrt
    ),
)
