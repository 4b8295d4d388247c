"""ResiDual: a Post-LN stream and a stream of the plain sum, which the output adds (Xie et al., 2023, section 3)."""

from __future__ import annotations

from preln.placements.base import Function, Output, Placement, Residual, Tensor


class ResiDual(Residual):
    """f = dropout(F(x)); x <- LayerNorm(x + f); r <- r + f. Both begin with the embeddings."""

    normalises_sum = True

    def forward(self, streams: Tensor, sublayer: Function) -> Tensor:
        """x and r, stacked, of shape (2, ..., width), after `sublayer`; the first connection takes the embeddings."""
        from torch import stack

        is_first = self.place.layer == 1 and self.place.sublayer == self.place.sublayers[0]
        x, r = (streams, streams) if is_first else streams
        f = self.dropped(sublayer(x))
        return stack([self.norm(x + f), r + f])


class ResiDualOutput(Output):
    """x + LayerNorm(r)."""

    def forward(self, streams: Tensor) -> Tensor:
        """`streams`, of shape (2, ..., width), as one, (..., width)."""
        x, r = streams
        output: Tensor = x + self.norm(r)
        return output


PLACEMENT = Placement(
    name="resi-dual",
    label="ResiDual",
    source="Xie et al. (2023), arXiv:2304.14802",
    residual=ResiDual,
    output=ResiDualOutput,
    colour="#882255",
    marker="X",
    hatch="//",
    line=(0, (7, 1.5, 1, 1, 1, 1, 1, 1.5)),
)
