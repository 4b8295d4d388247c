"""What the paper's lemmas predict, as formulas (sections 2.3 and 3.3, appendices B to G)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from preln.theory.measurements import Stack

if TYPE_CHECKING:
    from torch import Tensor

EPSILON, DELTA = 0.1, 0.125
"""The paper's measured boundedness: squared norms exceed their mean by a tenth in at most an eighth of the cases."""

DECAY = math.sqrt(2 / 3)
"""The factor that appendix F gives the gradient of Post-LN for each layer towards the input."""


def relu_square_norm(width: int, sigma: float = 1.0) -> float:
    """Lemma 1: E||ReLU(X)||^2 of X ~ N(0, sigma^2 I), of `width` dimensions."""
    return sigma**2 * width / 2


def post_ln_square_norm(width: int) -> float:
    """Lemma 2: E||x^{post,5}||^2, of the sum that a Post-LN layer's last LayerNorm takes, in every layer."""
    return 1.5 * width


def pre_ln_square_norm(width: int, layer: int, stack: Stack = "encoder") -> tuple[float, float]:
    """Lemma 2: bounds of E||x^pre_{l+1}||^2, of the sum that leaves the Pre-LN layer l = `layer`, counted from 1.

    The feed-forward sub-layer adds d/2 and an attention sub-layer between 0 and d. The paper's lemma is of encoder
    layers; a decoder layer has two attention sub-layers, and its band follows in the same way.
    """
    attention_sublayers = 1 if stack == "encoder" else 2
    return (1 + layer / 2) * width, (1 + (attention_sublayers + 0.5) * layer) * width


def jacobian_norm(x: Tensor) -> Tensor:
    """Lemma 3: the spectral norm of LayerNorm's Jacobian at each vector of `x`, of shape (..., d): sqrt(d)/||y||,
    where y is x less its mean. (The paper writes ||x||; the mean of a hidden state is small beside it.)"""
    y = x - x.mean(dim=-1, keepdim=True)
    norm: Tensor = math.sqrt(x.size(-1)) / y.norm(dim=-1)
    return norm
