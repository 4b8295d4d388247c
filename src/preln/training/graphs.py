"""How the passes of a training that are recorded as CUDA graphs are checked against those that are not."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def distance(expected: Sequence[Tensor], computed: Sequence[Tensor]) -> float:
    """The norm of the difference between two lists of tensors, relative to that of the first; infinite if either is not
    finite."""
    norm = torch.nn.utils.get_total_norm
    differences = [a.float() - b.float() for a, b in zip(expected, computed, strict=True)]
    relative = float(norm(differences) / norm([a.float() for a in expected]))
    return relative if relative == relative else float("inf")
