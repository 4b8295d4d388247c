"""The steps of a beam search: attention to a hypothesis's past and to its source, and the best continuations."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from preln.fused import native
from preln.fused.attention import mask_of, whole_rows, words_between


class Linear:
    """x W^T + b for weights of shape (columns, inner) that do not change, which are laid out once.

    Libraries lay out a product's weights again each time, which for some hundred rows costs as much as the product.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._weight, self._bias = weight, bias
        self._compiled = native.takes(weight) and weight.dtype == torch.float32
        if self._compiled:
            missing = -len(weight) % native.LANES
            panels = functional.pad(weight, (0, 0, 0, missing)).view(-1, native.LANES, weight.size(1))
            self._panels = panels.transpose(1, 2).contiguous()
            self._padded = functional.pad(weight.new_zeros(len(weight)) if bias is None else bias, (0, missing))

    def __call__(self, x: Tensor) -> Tensor:
        """Map `x`, of shape (..., inner), to (..., columns)."""
        if not self._compiled:
            return functional.linear(x, self._weight, self._bias)
        columns, inner = self._weight.shape
        out = x.new_empty(*x.shape[:-1], columns)
        sizes = (x.numel() // inner, inner, columns)
        native.call("preln_linear", x.dtype, x.contiguous(), self._panels, self._padded, out, *sizes)
        return out


class Path:
    """The past of each hypothesis: the hypotheses that it continues, by number for the compiled loop, and otherwise as
    a mask over the hypotheses of all steps, for a GPU's kernels.

    Attributes:
        beam: hypotheses for each sentence.
        steps: the number of steps so far.
        rows: the past of each hypothesis, of shape (sentences, beam, ...).
        compiled: whether it is for the compiled loop.
    """

    def __init__(self, like: Tensor, beam: int, most: int, heads: int) -> None:
        """`like`, of shape (sentences, ..., width), has the type and device of the attention; `most` is the largest
        number of steps."""
        self.compiled = _compiled(like, like.size(-1) // heads)
        self.steps, self.beam = 1, beam
        if self.compiled:
            self.rows = torch.zeros(len(like), beam, most, dtype=torch.int32)
        else:
            self.rows = like.new_full((len(like), beam, whole_rows(most * beam)), -torch.inf)
        self._add_themselves()

    @property
    def mask(self) -> Tensor:
        """The mask that is added to the scores of all past hypotheses, of shape (sentences, 1, beam, steps x beam)."""
        return self.rows[:, None, :, : self.steps * self.beam]

    def follow(self, parents: Tensor) -> None:
        """Advance a step; `parents`, (sentences, beam), are the hypotheses that are continued."""
        self.rows = self.rows.gather(1, parents[..., None].expand_as(self.rows))
        self.steps += 1
        self._add_themselves()

    def keep(self, closed: Callable[[Tensor], Tensor]) -> None:
        """Keep the rows that `closed` selects from each tensor."""
        self.rows = closed(self.rows)

    def _add_themselves(self) -> None:
        """Add the last step's hypotheses to their own past."""
        last, beam = self.steps - 1, self.beam
        if self.compiled:
            self.rows[:, :, last] = torch.arange(beam)
        else:
            self.rows[:, :, last * beam : self.steps * beam].diagonal(dim1=1, dim2=2).zero_()


def attend_to_path(projected: Tensor, past: Tensor, path: Path, heads: int) -> Tensor:
    """Attention of each hypothesis to its past, including this step.

    Args:
        projected: Q, K and V at this step side by side, of shape (sentences, beam, 3 width).
        past: K and V at every step side by side, of shape (sentences, steps or more, beam, 2 width); this step's are
            written to it.
        path: the hypotheses' past.
        heads: the number of heads, which divides the width.

    Returns:
        The heads side by side, of shape (sentences, beam, width).
    """
    sentences, beam, width = *projected.shape[:2], past.size(-1) // 2
    if path.compiled:
        out = projected.new_empty(sentences, beam, width)
        sizes = (sentences, beam, path.steps, past.size(1), heads, width // heads)
        native.call("preln_attend_to_path", out.dtype, projected, past, path.rows, path.rows.size(2), out, *sizes)
        return out
    past[:, path.steps - 1] = projected[..., width:]
    seen = past[:, : path.steps].flatten(1, 2)
    return _attend(projected[..., :width], seen, path.mask, heads)


class Source:
    """The keys and values of each sentence's source, for attention at every step."""

    def __init__(self, projected: Tensor, padding: Tensor, heads: int) -> None:
        """`projected` has K and V side by side, of shape (sentences, length, 2 width); `padding`, (sentences, length),
        is true at padding, which is before all words."""
        self._heads = heads
        self._compiled = _compiled(projected, projected.size(-1) // 2 // heads)
        if self._compiled:
            keys, values = projected.reshape(*projected.shape[:2], 2 * heads, -1).transpose(1, 2).chunk(2, dim=1)
            # The loop reads whole lanes, which may end after the last key.
            lanes = functional.pad(keys.transpose(2, 3), (0, native.LANES - 1))
            self._kept: tuple[Tensor, ...] = (words_between(padding), lanes, values.contiguous())
        else:
            self._kept = (mask_of(padding, projected), projected)

    def attend(self, query: Tensor) -> Tensor:
        """The heads side by side, in the shape of `query`, (sentences, beam, width)."""
        if self._compiled:
            seen, keys, values = self._kept
            _, heads, length, width = values.shape
            out = torch.empty_like(query)
            sizes = (*query.shape[:2], heads, width, length, keys.size(3))
            native.call("preln_attend_to_source", out.dtype, query, keys, values, seen, out, *sizes)
            return out
        mask, projected = self._kept
        return _attend(query, projected, mask, self._heads)

    def keep(self, closed: Callable[[Tensor], Tensor]) -> None:
        """Keep the rows that `closed` selects from each tensor."""
        self._kept = tuple(map(closed, self._kept))


def _attend(query: Tensor, projected: Tensor, mask: Tensor, heads: int) -> Tensor:
    """Attention to `projected`, K and V side by side, in four-dimensional tensors, for a GPU's kernels."""
    query, key, value = (
        x.reshape(*x.shape[:2], heads, -1).transpose(1, 2) for x in (query, *projected.chunk(2, dim=-1))
    )
    return functional.scaled_dot_product_attention(query, key, value, mask).transpose(1, 2).flatten(2)


def _compiled(x: Tensor, head: int) -> bool:
    """True if the compiled loops, which need heads of whole lanes, support `x`."""
    return native.takes(x) and x.dtype == torch.float32 and head % native.LANES == 0


def best_continuations(
    scores: Tensor, count: int, never: Tensor, only: tuple[Tensor, int] | None = None
) -> tuple[Tensor, Tensor]:
    """The highest log-probabilities in each row.

    Args:
        scores: of shape (rows, vocabulary).
        count: the number of continuations.
        never: indices in the vocabulary that are excluded after the softmax.
        only: a mask of rows, (rows,), in which a single index is allowed, and that index; it comes first in these rows,
            and the other continuations have no probability.

    Returns:
        The log-probabilities in falling order and their indices, of shape (rows, count).
    """
    rows, vocabulary = scores.shape
    compiled = native.takes(scores) and scores.dtype == torch.float32
    if compiled:
        values, totals = scores.new_empty(rows, count), scores.new_empty(rows)
        places = torch.empty(rows, count, dtype=torch.long)
        sizes = (rows, vocabulary, count, never, len(never))
        native.call("preln_best_of_rows", scores.dtype, scores, *sizes, values, places, totals)
    else:
        log_p = functional.log_softmax(scores, dim=1, dtype=torch.float32)
        values, places = log_p.index_fill(1, never, -torch.inf).topk(count)
    if only is not None:
        restricted, index = only
        allowed = scores[:, index] - totals if compiled else log_p[:, index]
        values.masked_fill_(restricted[:, None], -torch.inf)
        values[:, 0] = torch.where(restricted, allowed, values[:, 0])
        places[:, 0].masked_fill_(restricted, index)
    return values, places
