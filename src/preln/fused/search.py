"""The two steps of a beam search that cost the most: attending to a hypothesis' own past, and finding what follows."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from preln.fused import native

LANES = 16
"""The compiled loop takes heads whose width is a multiple of that."""


def attend_to_path(projected: Tensor, past: Tensor, path: Tensor, steps: int, heads: int) -> Tensor:
    """What each hypothesis attends to in the first `steps` steps of its past, of which the last is this one.

    Args:
        projected: Q, K and V of this step side by side, of shape (sentences, beam, 3 width).
        past: K and V of every step side by side, of shape (sentences, steps or more, beam, 2 width); those of this step
            are written.
        path: which of a step's hypotheses is in the past of which, of shape (sentences, beam, steps or more), int32.
        steps: how many of them there are.
        heads: their number, which divides the width.

    Returns:
        The heads side by side, of shape (sentences, beam, width).
    """
    sentences, beam, width = *projected.shape[:2], past.size(-1) // 2
    if native.takes(projected) and projected.dtype == torch.float32 and width // heads % LANES == 0:
        out = projected.new_empty(sentences, beam, width)
        sizes = (sentences, beam, steps, past.size(1), heads, width // heads)
        native.call("preln_attend_to_path", out.dtype, projected, past, path, path.size(2), out, *sizes)
        return out
    past[:, steps - 1] = projected[..., width:]
    own = path[..., :steps, None].long().transpose(1, 2).expand(-1, -1, -1, 2 * width)
    mine = past[:, :steps].gather(2, own).transpose(1, 2)
    query, key, value = (
        x.reshape(sentences, beam, -1, heads, width // heads).transpose(2, 3)
        for x in (projected[..., :width], *mine.chunk(2, dim=-1))
    )
    return functional.scaled_dot_product_attention(query, key, value).transpose(2, 3).reshape(sentences, beam, width)


def best_continuations(scores: Tensor, count: int, never: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The highest log-probabilities of each row.

    Args:
        scores: of shape (rows, vocabulary).
        count: how many.
        never: indices of the vocabulary that are left out, though they have their share of the probability.

    Returns:
        The log-probabilities from the highest on and their indices, of shape (rows, count), and by what the scores of
        each row exceed their log-probabilities.
    """
    rows, vocabulary = scores.shape
    if native.takes(scores) and scores.dtype == torch.float32:
        values, totals = scores.new_empty(rows, count), scores.new_empty(rows)
        places = torch.empty(rows, count, dtype=torch.long)
        sizes = (rows, vocabulary, count, never, len(never))
        native.call("preln_best_of_rows", scores.dtype, scores, *sizes, values, places, totals)
        return values, places, totals
    totals = scores.float().logsumexp(dim=1)
    allowed = scores.float().index_fill(1, never, -torch.inf)
    values, places = allowed.topk(count)
    return values - totals[:, None], places, totals
