"""Where the LayerNorm goes: one residual connection for each placement (Table 1 of the paper).

A residual connection joins a sub-layer F (attention or feed-forward), with dropout, to its input x. This is the only
definition of a placement; every model is built from it.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from preln.fused.dropout import dropped_sum
from preln.fused.norm import LayerNorm, norm_of_sum

Sublayer = Callable[[Tensor], Tensor]


class Residual(nn.Module):
    """A residual connection of a width, with its LayerNorm, and dropout of F(x) in training."""

    def __init__(self, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm = LayerNorm(width)
        self._dropout = dropout

    @property
    def dropout(self) -> float:
        """The probability with which an element of F(x) is dropped."""
        return self._dropout if self.training else 0.0

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        raise NotImplementedError

    @staticmethod
    def final_norm(width: int) -> nn.Module | None:
        """What normalises the output of the last layer, if anything does."""
        raise NotImplementedError


class PostLN(Residual):
    """x <- LayerNorm(x + dropout(F(x)))."""

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        return norm_of_sum(x, sublayer(x), self.dropout, self.norm)

    @staticmethod
    def final_norm(width: int) -> nn.Module | None:
        """None: the last layer's own LayerNorm normalises the output."""
        return None


class PreLN(Residual):
    """x <- x + dropout(F(LayerNorm(x))), and LayerNorm once more on the output of the last layer."""

    def forward(self, x: Tensor, sublayer: Sublayer) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        return dropped_sum(x, sublayer(self.norm(x)), self.dropout)

    @staticmethod
    def final_norm(width: int) -> nn.Module | None:
        """The LayerNorm behind the last layer: without it Pre-LN is another model (Table 1, last line)."""
        return LayerNorm(width)


PLACEMENTS: dict[str, type[Residual]] = {"post": PostLN, "pre": PreLN}
"""The placements by the name that a study uses for them."""
