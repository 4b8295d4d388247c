"""Training steps in bf16 with matrix products computed in fp32 or in bf16."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import training
from preln.fused import products


def work(size: str, way: str) -> Callable[[], int]:
    """A round of training steps; its units are target tokens.

    Args:
        size: the model's size.
        way: the type in which products are computed, `fp32` or `bf16`.
    """
    products.IN_FP32 = way == "fp32"
    return training.work("preln", size, "bf16")
