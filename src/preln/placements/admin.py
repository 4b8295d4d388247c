"""Admin: Post-LN with a learnt factor of x, which begins with what a first pass finds (Liu et al., 2020, section 4).

Before the training, the model computes one batch. The factor of a connection becomes the standard deviation that its
input would have without norms: 1 for the first of a stack, and for each other one what the one before it had, with the
variance of F added. The batch is of words as frequent as in the training text, and the same for every run. In a
language model, it is of the training text, drawn by the run's seed.
"""

from __future__ import annotations

from preln.placements.base import Function, Placement, Predictions, Residual, Tensor


class Admin(Residual):
    """x <- LayerNorm(omega * x + dropout(F(x))), with a vector omega."""

    normalises_sum = True

    def build(self) -> None:
        """The norm, and omega, which is 1 until the first pass."""
        import torch
        from torch import nn

        super().build()
        self.omega = nn.Parameter(torch.ones(self.shape.width))

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        return self.norm_of_sum(self.omega * x, sublayer(x))

    def profile(self, x: Tensor, sublayer: Function, before: float) -> float:
        """Set omega to the standard deviation that `before` is the variance of; the sum's variance is returned."""
        self.omega.fill_(before**0.5)
        return float((self.omega * x).var(correction=0) + sublayer(x).var(correction=0))


PLACEMENT = Placement(
    name="admin",
    label="Admin",
    source="Liu et al. (2020), arXiv:2004.08249",
    residual=Admin,
    colour="#cc6677",
    marker="D",
    hatch="oo..",
    line=(0, (5, 1.5, 5, 3)),
    predictions=Predictions(relu_square_norm=0.5),
)
