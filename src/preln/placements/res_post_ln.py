"""Res-Post-LN: LayerNorm on what a sub-layer adds (Liu et al., 2022, Swin Transformer V2, section 3.2).

OLMo 2 has it too, with RMSNorm (`norm: rms`) and a norm of queries and keys, over all heads together where `qk_norm:
true` has one for each.
"""

from __future__ import annotations

from preln.placements.base import Function, Placement, Residual, Tensor


class ResPostLN(Residual):
    """x <- x + dropout(LayerNorm(F(x)))."""

    normalises_sum = False

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, self.norm(sublayer(x)))


PLACEMENT = Placement(
    name="res-post",
    label="Res-Post-LN",
    source="Liu et al. (2022), Swin Transformer V2",
    residual=ResPostLN,
    final_norm=True,
    colour="#029e73",
    marker="<",
    hatch="||",
    line=(0, (4, 1.5, 2, 1.5)),
)
