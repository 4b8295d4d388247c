"""ReZero: no norm, and each sub-layer has a learnt factor that begins with 0 (Bachlechner et al., 2021).

Here each sub-layer has a factor of its own. The authors' Transformer has one for a layer.
"""

from __future__ import annotations

from preln.placements.base import Function, Placement, Residual, Tensor


class ReZero(Residual):
    """x <- x + dropout(alpha F(x)), with alpha = 0 at first."""

    normalises_sum = False

    def build(self) -> None:
        """The factor alpha, and no norm."""
        import torch
        from torch import nn

        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.sum(x, self.alpha * sublayer(x))


PLACEMENT = Placement(
    name="rezero",
    label="ReZero",
    source="Bachlechner et al. (2021), arXiv:2003.04887",
    residual=ReZero,
    colour="#949494",
    marker="*",
    hatch="oo",
    line=(0, (2, 1.5)),
)
