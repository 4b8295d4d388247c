"""Training steps in bf16, whose products of matrices are widened to fp32, or are not."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import training
from preln.fused import products


def work(size: str, way: str) -> Callable[[], int]:
    """A round of training steps; its units are target tokens.

    Args:
        size: of the model.
        way: `widened`, or `narrow` for products in bf16.
    """
    products._WIDENS = way == "widened"
    return training.work("preln", size, "bf16")
