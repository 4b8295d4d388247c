"""What it would cost to give a training batches of a few shapes only, as CUDA graphs need them.

It is counted on a prepared corpus. A batch's shape is how many sentences it has, and how long its longest source and
target are. Its places are its padded tokens, which are what a model computes: the sentences times the sum of these two
lengths. A batch in a larger shape has more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import Dictionary, LanguagePairDataset, data_utils
from numpy.typing import NDArray

from preln.commands.cost import BATCH_MULTIPLE

Integers = NDArray[np.int64]
Price = Callable[[Integers], Integers]
"""The places of sizes, which are in the last dimension."""

TOKENS = (4096, 1024)
"""Of a batch, in the paper's setting for IWSLT14 and in our studies."""
PADDED = (16, 64)
"""To how many shapes fairseq's batches are padded."""
MADE = 16
"""For how many shapes batches are made anew."""


def of_batches(shapes: Integers) -> Integers:
    """The places of batches: sentences, source, target."""
    return np.asarray(shapes[..., 0] * (shapes[..., 1] + shapes[..., 2]))


def of_pairs(lengths: Integers) -> Integers:
    """The places of pairs of sentences: source, target."""
    return np.asarray(lengths.sum(-1))


def text(binary: Path, languages: tuple[str, str]) -> LanguagePairDataset:
    """The training pairs of a binarised corpus."""
    sides = []
    for language in languages:
        words = Dictionary.load(str(binary / f"dict.{language}.txt"))
        side = data_utils.load_indexed_dataset(str(binary / f"train.{'-'.join(languages)}.{language}"), words)
        sides += [side, side.sizes, words]
    return LanguagePairDataset(*sides)


def fairseqs(pairs: LanguagePairDataset, tokens: int) -> Integers:
    """The shapes of fairseq's batches of at most so many tokens."""
    found = pairs.batch_by_size(pairs.ordered_indices(), max_tokens=tokens, required_batch_size_multiple=BATCH_MULTIPLE)
    return np.array([(len(rows), pairs.src_sizes[rows].max(), pairs.tgt_sizes[rows].max()) for rows in found])


def counts(pairs: LanguagePairDataset) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is recorded, by name: the shapes of fairseq's batches, the share of places that their padding adds to the
    words, and the share that few shapes would add to that."""
    lengths = np.stack([pairs.src_sizes, pairs.tgt_sizes], 1).astype(np.int64)
    for tokens in TOKENS:
        batches = fairseqs(pairs, tokens)
        places = int(of_batches(batches).sum())
        found = {"value": len(np.unique(batches, axis=0)), "batches": len(batches)}
        yield f"shapes-{tokens}", {**found, "padding": round(places / int(lengths.sum()) - 1, 5)}
        for count in PADDED:
            more = padded(batches, chosen(batches, count, of_batches)) / places - 1
            yield f"shapes-{tokens}-padded-{count}", {"value": round(more, 5), "batches": len(batches)}
        made, of_made = made_anew(lengths, chosen(lengths, MADE, of_pairs), tokens)
        yield f"shapes-{tokens}-made-{MADE}", {"value": round(of_made / places - 1, 5), "batches": made}


def padded(batches: Integers, shapes: Integers) -> int:
    """The places of batches, each of which is padded to the smallest shape that has room for it."""
    return int(of_batches(shapes[_smallest(batches, shapes, of_batches)]).sum())


def made_anew(lengths: Integers, shapes: Integers, tokens: int) -> tuple[int, int]:
    """How many batches are made for shapes of a source and a target, and the batches' places.

    Each pair is in the smallest shape that has room for it. A shape has as many sentences as fairseq would give it, and
    its last batch is filled up with empty ones.
    """
    pairs = np.bincount(_smallest(lengths, shapes, of_pairs), minlength=len(shapes))
    rows = tokens // shapes.max(1)
    rows = np.where(rows < BATCH_MULTIPLE, rows, rows - rows % BATCH_MULTIPLE)
    batches = -(-pairs // rows)
    return int(batches.sum()), int((batches * rows * of_pairs(shapes)).sum())


def _smallest(sizes: Integers, shapes: Integers, price: Price) -> Integers:
    """For each size, which of the shapes that have room for it has the fewest places."""
    fits = np.all(sizes[:, None] <= shapes[None], axis=-1)
    assert fits.any(1).all(), "a size has no shape"
    return np.asarray(np.where(fits, price(shapes), np.iinfo(np.int64).max).argmin(1))


def chosen(sizes: Integers, count: int, price: Price) -> Integers:
    """At most `count` shapes with room for all of `sizes`, which have few places.

    At first each distinct size is a group with a shape of its own. The two groups whose union adds the fewest places
    are united, until there are `count`. Then a size goes over to another group wherever that saves places, until no
    such move is left. There may be better shapes, which several moves at once would find.
    """
    distinct, weights = np.unique(sizes, axis=0, return_counts=True)
    groups = _united(distinct, weights, count, price)
    shapes = _moved(distinct, weights, groups, price)
    return shapes[price(shapes) > 0]


def _united(sizes: Integers, weights: Integers, count: int, price: Price) -> Integers:
    """The number of the group that each size is in when there are `count`."""
    shapes, totals, groups = sizes.copy(), weights.copy(), np.arange(len(sizes))
    left, never = np.ones(len(sizes), dtype=bool), np.iinfo(np.int64).max

    def added(one: int) -> Integers:
        """The places that uniting a group with each other one adds."""
        together = price(np.maximum(shapes, shapes[one])) * (totals + totals[one])
        more = together - price(shapes) * totals - price(shapes[one]) * totals[one]
        return np.where(left & (np.arange(len(shapes)) != one), more, never)

    more = np.array([added(one) for one in range(len(sizes))])
    for _ in range(len(sizes) - count):
        one, other = (int(place) for place in np.unravel_index(more.argmin(), more.shape))
        shapes[one], totals[one] = np.maximum(shapes[one], shapes[other]), totals[one] + totals[other]
        groups[groups == other], left[other] = one, False
        more[other], more[:, other] = never, never
        more[one] = more[:, one] = added(one)
    return np.unique(groups, return_inverse=True)[1]


def _moved(sizes: Integers, weights: Integers, groups: Integers, price: Price) -> Integers:
    """The groups' shapes when no size can go over to another group and save places; an empty group's is 0."""
    shapes = np.array([sizes[groups == group].max(0) for group in range(groups.max() + 1)])
    totals = np.array([weights[groups == group].sum() for group in range(len(shapes))])
    moved = True
    while moved:
        moved = False
        for number, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
            here = groups[number]
            others = groups == here
            others[number] = False
            without = sizes[others].max(0, initial=0)
            saved = price(shapes[here]) * totals[here] - price(without) * (totals[here] - weight)
            added = price(np.maximum(shapes, size)) * (totals + weight) - price(shapes) * totals
            added[here] = saved
            there = added.argmin()
            if added[there] < saved:
                groups[number], moved = there, True
                shapes[here], totals[here] = without, totals[here] - weight
                shapes[there], totals[there] = np.maximum(shapes[there], size), totals[there] + weight
    return shapes
