"""Where the LayerNorm goes: one residual connection for each placement (Table 1 of the paper).

A residual connection joins a sub-layer F (attention or feed-forward, with its dropout) to its input x. This is
the only definition of a placement; every model is built from it.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

Sublayer = Callable[[Tensor], Tensor]


class PostLN(nn.Module):
    """x <- LayerNorm(x + F(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        normalised: Tensor = self.norm(x + sublayer(x))
        return normalised

    @staticmethod
    def final_norm(width: int) -> nn.Module | None:
        """None: the last layer's own LayerNorm normalises the output."""
        return None


class PreLN(nn.Module):
    """x <- x + F(LayerNorm(x)), and LayerNorm once more on the output of the last layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        return x + sublayer(self.norm(x))

    @staticmethod
    def final_norm(width: int) -> nn.Module | None:
        """The LayerNorm behind the last layer: without it Pre-LN is another model (Table 1, last line)."""
        return nn.LayerNorm(width)


Residual = PostLN | PreLN

PLACEMENTS: dict[str, type[Residual]] = {"post": PostLN, "pre": PreLN}
"""The placements by the name that a study uses for them."""
