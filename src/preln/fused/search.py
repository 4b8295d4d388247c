"""The two steps of a beam search that cost the most: attending to a hypothesis' own past, and finding what may follow."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from preln.fused import native


def attend_to_path(query: Tensor, keys: Tensor, values: Tensor, path: Tensor, steps: int, heads: int) -> Tensor:
    """What each hypothesis attends to in the first `steps` steps of its past.

    Args:
        query: of shape (sentences, beam, width).
        keys, values: of what was said at each step, of shape (sentences, steps or more, beam, width).
        path: which of a step's hypotheses is in the past of which, of shape (sentences, beam, steps or more), int32.
        steps: how many of them there are.
        heads: their number, which divides the width.

    Returns:
        The heads side by side, of shape (sentences, beam, width).
    """
    sentences, beam, width = query.shape
    if native.takes(query) and query.dtype == torch.float32:
        out = query.new_empty(sentences, beam, width)
        sizes = (sentences * beam, beam, steps, keys.size(1), heads, width // heads)
        native.call(
            "preln_attend_to_path", query.dtype, query, query.stride(1), keys, values, path, path.size(2), out, *sizes
        )
        return out
    own = path[..., :steps, None].long().transpose(1, 2).expand(-1, -1, -1, width)
    past = (x[:, :steps].gather(2, own).permute(0, 2, 1, 3) for x in (keys, values))
    key, value = (x.unflatten(-1, (heads, -1)).transpose(2, 3) for x in past)  # type: ignore[no-untyped-call]
    one = query.reshape(sentences, beam, heads, 1, -1)
    return functional.scaled_dot_product_attention(one, key, value).flatten(2)


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
