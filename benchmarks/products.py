"""Training steps in bf16, whose products of matrices are computed in fp32, or in bf16."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import training
from preln.fused import products


def work(size: str, way: str) -> Callable[[], int]:
    """A round of training steps; its units are target tokens.

    Args:
        size: of the model.
        way: `fp32` or `bf16`, in which products are computed.
    """
    products.IN_FP32 = way == "fp32"
    return training.work("preln", size, "bf16")
