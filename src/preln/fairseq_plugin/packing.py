"""Batches of sentence pairs without padding, in a few fixed sizes.

fairseq's batches have hundreds of shapes, each of which would need a CUDA graph of its own. A packed batch has the
same sentences one after the other, in one of at most four sizes, and nothing that a GPU computes of it depends on
their number or lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from preln.fused.attention import Packed

CAPACITIES = 4
"""The sizes of a training's packed batches, at most. On IWSLT14, four have 4% more rows than fairseq's padded batches
have places, one 12%."""
CUTS = 24
"""The places by the number of words at which batches may be divided among capacities."""
MULTIPLE = 8
"""The sizes are multiples of it, for the tensor cores."""

Lengths = tuple[Sequence[int], Sequence[int]]
"""The numbers of tokens of a batch's sentences, of the source and of the target."""
Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Capacity:
    """A size of packed batches.

    Attributes:
        rows: the words of both sides and the tail, source first.
        sentences: of each side, with those of the tail and empty ones.
        longest: numbers that no sentence's length exceeds, source first.
    """

    rows: tuple[int, int]
    sentences: int
    longest: tuple[int, int]

    def tail(self, lengths: Lengths) -> list[list[int]] | None:
        """The lengths of the sentences of padding that fill what a batch leaves empty on both sides; None if the batch
        or its tail does not fit.

        The rows must all belong to sentences: attention leaves others unwritten, and a gradient that is multiplied by
        zero is not zero if it is not a number. As a sentence attends to the source's sentence of its number, both
        sides have equally many, and none is empty.
        """
        left = [rows - sum(side) for rows, side in zip(self.rows, lengths, strict=True)]
        pieces = max(-(-number // longest) for number, longest in zip(left, self.longest, strict=True))
        too_long = any(max(side) > longest for side, longest in zip(lengths, self.longest, strict=True))
        if too_long or min(left) < max(pieces, 0) or len(lengths[0]) + pieces > self.sentences:
            return None
        return [[number // pieces + (piece < number % pieces) for piece in range(pieces)] for number in left]


def fitting(sizes: Iterable[Capacity], lengths: Lengths) -> tuple[Capacity, list[list[int]]] | None:
    """The first of some capacities that holds sentences of such lengths, and the lengths of its tail; None if none
    does."""
    tails = ((capacity, capacity.tail(lengths)) for capacity in sizes)
    return next(((capacity, tail) for capacity, tail in tails if tail is not None), None)


def capacities(batches: Sequence[Sequence[int]], sizes: tuple[Numbers, Numbers]) -> tuple[Capacity, ...]:
    """The capacities that hold all batches of a training with the fewest rows, the smallest first.

    fairseq orders sentences by their lengths before it fills its batches. So each epoch's have the same sizes, though
    not the same sentences, and a training that is continued has the same capacities. `batches` are those of an epoch,
    as indices of sentences, and `sizes` the number of tokens of each sentence of the text, source first.
    """
    places = np.concatenate([np.asarray(batch) for batch in batches])
    counts = np.array([len(batch) for batch in batches])
    starts = np.concatenate([[0], counts.cumsum()[:-1]])
    words = np.stack([np.add.reduceat(side[places], starts) for side in sizes], axis=1)
    longest = int(sizes[0][places].max()), int(sizes[1][places].max())
    order = words.sum(axis=1).argsort(kind="stable")
    counts, words = counts[order], words[order]
    marks = sorted({*np.linspace(0, len(counts), CUTS + 1).astype(int).tolist()})

    def rows(ends: tuple[int, ...]) -> int:
        parts = pairwise((0, *ends, len(counts)))
        return sum(int(words[start:end].max(axis=0).sum()) * (end - start) for start, end in parts)

    inner = marks[1:-1]
    ends = min(combinations(inner, min(CAPACITIES - 1, len(inner))), key=rows)
    return tuple(_holding(counts[a:b], words[a:b], longest) for a, b in pairwise((0, *ends, len(counts))))


def _holding(counts: Numbers, words: Numbers, longest: tuple[int, int]) -> Capacity:
    """The capacity of some batches, with room for each one's tail."""
    pieces = 0
    while True:
        rows = -(-(words.max(axis=0) + pieces) // MULTIPLE) * MULTIPLE
        needed = int((-(-(rows - words) // np.array(longest))).max())
        if needed <= pieces:
            sentences = -(-(int(counts.max()) + pieces) // MULTIPLE) * MULTIPLE
            return Capacity((int(rows[0]), int(rows[1])), sentences, longest)
        pieces = needed


@dataclass(frozen=True)
class Side:
    """One side of a packed batch.

    Attributes:
        tokens: of shape (rows,).
        positions: their rows in fairseq's table of positions, of shape (rows,).
        layout: how the sentences lie.
    """

    tokens: Tensor
    positions: Tensor
    layout: Packed


def pack(batch: dict[str, Any], sizes: Sequence[Capacity], padding: int) -> dict[str, Any] | None:
    """A batch of fairseq in the first capacity that holds it, with its sentences in their order; None if none does. It
    has the numbers of sentences and target tokens as fairseq has them, the `capacity`, and `numbers`, one tensor with
    what `unpack` returns, so that it is copied to a GPU at once."""
    source, given = batch["net_input"]["src_tokens"], batch["net_input"]["prev_output_tokens"]
    words = source.ne(padding), batch["target"].ne(padding)
    lengths = words[0].sum(dim=1).tolist(), words[1].sum(dim=1).tolist()
    if (held := fitting(sizes, lengths)) is None:
        return None
    capacity, tails = held
    numbers: list[Tensor] = []
    for tokens, seen, side, tail, rows in zip((source, given), words, lengths, tails, capacity.rows, strict=True):
        lying = torch.tensor([*side, *tail, *[0] * (capacity.sentences - len(side) - len(tail))])
        offsets = torch.cat([torch.zeros(1, dtype=torch.long), lying.cumsum(0)])
        places = torch.arange(rows) - offsets[:-1].repeat_interleave(lying)
        numbers += [_filled(tokens[seen], rows, padding), padding + 1 + places, offsets]
    labels = _filled(batch["target"][words[1]], capacity.rows[1], padding)
    return {
        "nsentences": batch["nsentences"],
        "ntokens": batch["ntokens"],
        "capacity": capacity,
        "numbers": torch.cat([*numbers, labels]),
    }


def _filled(tokens: Tensor, rows: int, padding: int) -> Tensor:
    return torch.nn.functional.pad(tokens, (0, rows - len(tokens)), value=padding)


def unpack(batch: dict[str, Any]) -> tuple[Side, Side, Tensor]:
    """The source, the target as the decoder is given it, and the labels of its rows, which are padding in the tail."""
    capacity: Capacity = batch["capacity"]
    lengths = [length for rows in capacity.rows for length in (rows, rows, capacity.sentences + 1)]
    *sides, labels = batch["numbers"].split([*lengths, capacity.rows[1]])
    source, target = (
        Side(sides[first], sides[first + 1], Packed(sides[first + 2].int(), longest))
        for first, longest in zip((0, 3), capacity.longest, strict=True)
    )
    return source, target, labels
