"""Post-LN-init: Post-LN whose lower layers begin with smaller weights (Wang et al., 2022, DeepNet, section 3).

There it is the control of the explanation by gradients: the gradient of its last layer is larger than that of Post-LN,
and yet it trains. The text says that the weights of layer l are divided by k_l = N - l + 1 after Xavier's draw, with N
layers in the stack and l = 1 at its input, and gives W^2 as its example: N(0, 1/(k_l^2 d')), where d' is the mean of
the inputs and the outputs. It does not list the weights. Taken here are those that the same paper scales in DeepNorm:
W^1, W^2, W^V and W^O. W^Q and W^K decide where attention looks, and not the size of the sub-layer. Biases stay as they
are drawn.
"""

from __future__ import annotations

from preln.placements.base import Placement
from preln.placements.post_ln import PostLN


class PostLNInit(PostLN):
    """x <- LayerNorm(x + dropout(F(x))), with the matrices of F divided by N - l + 1 at first."""

    @property
    def initial_scale(self) -> float:
        """1/k_l = 1/(N - l + 1), of the layer l of a stack of N: 1/N at the input, 1 in the last layer."""
        return 1 / (self.place.depth - self.place.layer + 1)


PLACEMENT = Placement(
    name="post-init",
    label="Post-LN-init",
    source="Wang et al. (2022), section 3",
    residual=PostLNInit,
    colour="#ca9161",
    marker="D",
    hatch="xxxx",
    line=(0, (8, 1.5)),
)
