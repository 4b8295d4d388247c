"""Sub-LN: Pre-LN with a second norm inside of each sub-layer (Wang et al., 2022, Magneto, section 3).

The second norm is on what the last matrix of F takes: W^O of an attention, W^2 of a feed-forward sub-layer. The
authors' library (torchscale) leaves it out of the attention over the encoder's output; the paper does not.
"""

from __future__ import annotations

import math

from preln.placements.base import Function, Placement, Residual, Tensor


class SubLN(Residual):
    """x <- x + dropout(F(LayerNorm(x))), with another LayerNorm before F's last matrix."""

    normalises_sum = False

    def build(self) -> None:
        """Two norms, of which the second may have the width of the feed-forward's inner vectors."""
        super().build()
        is_feed_forward = self.place.sublayer == "feed-forward"
        self.inner = self.shape.new_norm(self.shape.inner if is_feed_forward else self.shape.width)

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, sublayer(self.norm(x), inside=self.inner))

    @property
    def initial_scale(self) -> float:
        """The paper's gamma, by the layers N of the encoder and M of the decoder."""
        n, m = self.place.encoder_layers, self.place.decoder_layers
        if not m:
            return math.sqrt(math.log(2 * n))
        of_decoder = math.log(3 * m)
        return math.sqrt(of_decoder * math.log(2 * n) / 3 if self.place.stack == "encoder" else of_decoder)


PLACEMENT = Placement(
    name="sub-ln",
    label="Sub-LN",
    source="Wang et al. (2022), arXiv:2210.06423",
    residual=SubLN,
    final_norm=True,
    colour="#117733",
    marker=">",
    hatch="--",
    line=(0, (4, 1.5, 1, 1.5)),
)
