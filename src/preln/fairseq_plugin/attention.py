"""Multi-head attention on the parameters of fairseq's module.

fairseq's own projects queries, keys and values one by one, and writes down masks of the size of the attention. Here the
projections of one input are one product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from preln.fused.attention import attend, words_between


def attention(
    module: Any, h: Tensor, source: Tensor | None = None, padding: Tensor | None = None, causal: bool = False
) -> Tensor:
    """What attention adds to each position.

    Args:
        module: fairseq's.
        h: of shape (batch, length, width).
        source: what the positions attend to, of shape (batch, source length, width); without it, to `h` itself.
        padding: where what is attended to is padding, of shape (batch, length of it).
        causal: whether a position sees only itself and those before it. Padding behind the words needs no mask then.
    """
    if source is None:
        projected, of_source = functional.linear(h, *in_one(module, "qkv")), None
    else:
        projected, of_source = module.q_proj(h), functional.linear(source, *in_one(module, "kv"))
    p = module.dropout_module.p if module.training else 0.0
    seen = None if padding is None else words_between(padding)
    projected = module.out_proj(attend(projected, of_source, seen, module.num_heads, causal, p))
    return projected


def in_one(module: Any, names: str) -> tuple[Tensor, Tensor]:
    """Projections of one input, such as to queries, keys and values (qkv), as one matrix and one bias."""
    projections = [getattr(module, f"{name}_proj") for name in names]
    return torch.cat([one.weight for one in projections]), torch.cat([one.bias for one in projections])
