"""Multi-head attention on the parameters of fairseq's module.

fairseq's own projects queries, keys and values one by one, and writes down masks of the size of the attention. Here the
projections of one input are one product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from preln.fused.attention import Layout, Padded, attend
from preln.fused.products import linear
from preln.fused.qk_norm import QKNorm
from preln.placements.base import as_it_is


def attention(
    module: Any,
    h: Tensor,
    layout: Layout,
    source: Tensor | None = None,
    source_layout: Layout | None = None,
    causal: bool = False,
    inside: Callable[[Tensor], Tensor] = as_it_is,
) -> Tensor:
    """Attention's output at each position.

    Args:
        module: fairseq's, prepared by `prepare`.
        h: of shape (..., width).
        layout: how the sentences of `h` lie.
        source: the vectors attended to, of shape (..., width); None for self-attention.
        source_layout: how the sentences of the source lie.
        causal: whether a position sees only itself and earlier ones. Trailing padding then needs no mask.
        inside: applied to the heads before W^O.
    """
    if source is None:
        projected, of_source = project(module, h, "qkv"), None
    else:
        projected, of_source = project(module, h, "q"), project(module, source, "kv")
    p = module.dropout_module.p if module.training else 0.0
    heads = inside(attend(projected, of_source, layout, source_layout or layout, module.num_heads, causal, p))
    return linear(heads, module.out_proj.weight, module.out_proj.bias)


def attention_of_the_last(state: Any, module: Any, h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
    """`attention` of the last position to itself and those before it, of shape (batch, 1, width).

    The keys and values so far are kept in fairseq's incremental `state`, under the name that fairseq's own attention
    has for its own, so that its beam search moves them with their hypotheses.
    """
    query, seen = project(module, h, "qkv").tensor_split([h.size(-1)], dim=-1)
    if kept := module.get_incremental_state(state, "attn_state"):
        seen = torch.cat([kept["prev_key"], seen], dim=1)
    module.set_incremental_state(state, "attn_state", {"prev_key": seen})
    heads = inside(attend(query, seen, Padded(), Padded(), module.num_heads, False, 0.0))
    return linear(heads, module.out_proj.weight, module.out_proj.bias)


def prepare(module: Any, qk_norm: bool) -> None:
    """Add QK-norm to fairseq's `module` where the run asks for it."""
    module.qk_norm = QKNorm(module.embed_dim, module.num_heads) if qk_norm else None


def project(module: Any, h: Tensor, names: str) -> Tensor:
    """The projections of `h`, such as queries, keys and values (qkv), side by side, as attention takes them."""
    return normalised(module, linear(h, *in_one(module, names)), names)


def normalised(module: Any, projected: Tensor, names: str) -> Tensor:
    """Projections with QK-norm, where the module has it."""
    return projected if module.qk_norm is None else module.qk_norm(projected, names)


def in_one(module: Any, names: str) -> tuple[Tensor, Tensor]:
    """Projections of one input, such as to queries, keys and values (qkv), as one matrix and one bias."""
    projections = [getattr(module, f"{name}_proj") for name in names]
    if len(projections) == 1:
        return projections[0].weight, projections[0].bias
    weights, biases = zip(*((projection.weight, projection.bias) for projection in projections), strict=True)
    return torch.cat(weights), torch.cat(biases)
