"""Peri-LN: Sandwich-LN, and a norm on the embeddings and on the output (Kim et al., 2025, section 3)."""

from __future__ import annotations

from preln.placements.base import DECODER, ENCODER, Placement, Predictions, Stack
from preln.placements.sandwich_ln import SandwichLN


class PeriLN(SandwichLN):
    """x <- x + dropout(LayerNorm(F(LayerNorm(x)))), from normalised embeddings on."""


def square_norm(layer: int, stack: Stack) -> tuple[float, float]:
    """E||x||^2 / d of the sum that leaves a layer: it begins with 1, and each sub-layer adds a normalised vector that
    knows nothing of x. The variance grows by the same amount each layer (Kim et al., section 3.2)."""
    variance = 1.0 + len(ENCODER if stack == "encoder" else DECODER) * layer
    return variance, variance


PLACEMENT = Placement(
    name="peri",
    label="Peri-LN",
    source="Kim et al. (2025), arXiv:2502.02732",
    residual=PeriLN,
    final_norm=True,
    embedding_norm=True,
    colour="#cc78bc",
    marker="v",
    hatch="....",
    line=(0, (6, 1.5, 1, 1.5, 1, 1.5)),
    predictions=Predictions(square_norm=square_norm),
)
