"""The paper's closed forms for every placement (sections 2.3 and 3.3); those for a single one are in
`preln.placements`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

EPSILON, DELTA = 0.1, 0.125
"""The paper's boundedness: norms exceed their mean by more than a tenth in at most an eighth of the cases. We apply it
to squared norms, as in theorem 1."""


def jacobian_norm(x: Tensor) -> Tensor:
    """Lemma 3: the spectral norm of LayerNorm's Jacobian at each vector of `x`, of shape (..., d): sqrt(d)/||y||,
    where y is x minus its mean. (The paper writes ||x||; the mean of a hidden state is comparatively small.)"""
    y = x - x.mean(dim=-1, keepdim=True)
    norm: Tensor = math.sqrt(x.size(-1)) / y.norm(dim=-1)
    return norm
