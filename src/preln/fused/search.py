"""The steps of a beam search: attending to a hypothesis' own past and to its source, and finding what follows."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from preln.fused import native


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
    if _compiled(projected, width // heads):
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


class Source:
    """What is attended to at every step: the keys and values of each sentence's source."""

    def __init__(self, projected: Tensor, seen: Tensor, heads: int) -> None:
        """`projected` has K and V side by side, of shape (sentences, length, 2 width); `seen` is `attend`'s."""
        self._seen = seen
        keys, values = projected.reshape(*projected.shape[:2], 2 * heads, -1).transpose(1, 2).chunk(2, dim=1)
        # The compiled loop looks at whole lanes, which may end behind the last key.
        self._keys = functional.pad(keys.transpose(2, 3), (0, native.LANES - 1))
        self._values = values.contiguous()

    def attend(self, query: Tensor) -> Tensor:
        """The heads side by side, of shape (sentences, beam, width), as is `query`."""
        sentences, beam, _ = query.shape
        _, heads, length, width = self._values.shape
        if _compiled(query, width):
            out = torch.empty_like(query)
            sizes = (sentences, beam, heads, width, length, self._keys.size(3))
            native.call("preln_attend_to_source", out.dtype, query, self._keys, self._values, self._seen, out, *sizes)
            return out
        place = torch.arange(length, device=query.device)
        mask = ((place >= self._seen[:, :1]) & (place < self._seen[:, 1:]))[:, None, None, :]
        query, keys = (
            query.view(sentences, beam, heads, width).transpose(1, 2),
            self._keys[..., :length].transpose(2, 3),
        )
        attended = functional.scaled_dot_product_attention(query, keys, self._values, mask)
        return attended.transpose(1, 2).flatten(2)

    def keep(self, closed: Callable[[Tensor], Tensor]) -> None:
        """Go on with the rows that `closed` gives of each tensor."""
        self._seen, self._keys, self._values = map(closed, (self._seen, self._keys, self._values))


def _compiled(x: Tensor, head: int) -> bool:
    """Whether the compiled loops, which take heads of whole lanes, can work on `x`."""
    return native.takes(x) and x.dtype == torch.float32 and head % native.LANES == 0


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
