"""The cost of training on batches with a few shapes only, as CUDA graphs need them.

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
"""Numbers of shapes to which fairseq's batches are padded."""
MADE = 16
"""Number of shapes for which new batches are made."""


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
    order = pairs.ordered_indices()
    batches = pairs.batch_by_size(order, max_tokens=tokens, required_batch_size_multiple=BATCH_MULTIPLE)
    return np.array([(len(rows), pairs.src_sizes[rows].max(), pairs.tgt_sizes[rows].max()) for rows in batches])


def counts(pairs: LanguagePairDataset) -> Iterator[tuple[str, dict[str, Any]]]:
    """The recorded counts by name: the shapes of fairseq's batches, the share of places that their padding adds to the
    words, and the share that a few shapes would add to that."""
    lengths = np.stack([pairs.src_sizes, pairs.tgt_sizes], 1).astype(np.int64)
    for tokens in TOKENS:
        batches = fairseqs(pairs, tokens)
        places = int(of_batches(batches).sum())
        distinct = {"value": len(np.unique(batches, axis=0)), "batches": len(batches)}
        yield f"shapes-{tokens}", {**distinct, "padding": round(places / int(lengths.sum()) - 1, 5)}
        for count in PADDED:
            more = padded(batches, chosen(batches, count, of_batches)) / places - 1
            yield f"shapes-{tokens}-padded-{count}", {"value": round(more, 5), "batches": len(batches)}
        number, new_places = new_batches(lengths, chosen(lengths, MADE, of_pairs), tokens)
        yield f"shapes-{tokens}-made-{MADE}", {"value": round(new_places / places - 1, 5), "batches": number}


def padded(batches: Integers, shapes: Integers) -> int:
    """The places of batches, each of which is padded to the smallest shape that has room for it."""
    return int(of_batches(shapes[_smallest(batches, shapes, of_batches)]).sum())


def new_batches(lengths: Integers, shapes: Integers, tokens: int) -> tuple[int, int]:
    """The number of batches for shapes of a source and a target, and the batches' places.

    Each pair goes into the smallest shape that fits. A shape has as many sentences as in fairseq, and its last batch is
    filled up with empty ones.
    """
    pairs = np.bincount(_smallest(lengths, shapes, of_pairs), minlength=len(shapes))
    rows = tokens // shapes.max(1)
    rows = np.where(rows < BATCH_MULTIPLE, rows, rows - rows % BATCH_MULTIPLE)
    batches = -(-pairs // rows)
    return int(batches.sum()), int((batches * rows * of_pairs(shapes)).sum())


def _smallest(sizes: Integers, shapes: Integers, price: Price) -> Integers:
    """For each size, the index of the fitting shape with the fewest places."""
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
    remaining, never = np.ones(len(sizes), dtype=bool), np.iinfo(np.int64).max

    def added(group: int) -> Integers:
        """The places that uniting a group with each other one adds."""
        together = price(np.maximum(shapes, shapes[group])) * (totals + totals[group])
        more = together - price(shapes) * totals - price(shapes[group]) * totals[group]
        return np.where(remaining & (np.arange(len(shapes)) != group), more, never)

    more = np.array([added(group) for group in range(len(sizes))])
    for _ in range(len(sizes) - count):
        a, b = (int(place) for place in np.unravel_index(more.argmin(), more.shape))
        shapes[a], totals[a] = np.maximum(shapes[a], shapes[b]), totals[a] + totals[b]
        groups[groups == b], remaining[b] = a, False
        more[b], more[:, b] = never, never
        more[a] = more[:, a] = added(a)
    return np.unique(groups, return_inverse=True)[1]


def _moved(sizes: Integers, weights: Integers, groups: Integers, price: Price) -> Integers:
    """The groups' shapes when no size can go over to another group and save places; an empty group's is 0."""
    shapes = np.array([sizes[groups == group].max(0) for group in range(groups.max() + 1)])
    totals = np.array([weights[groups == group].sum() for group in range(len(shapes))])
    moved = True
    while moved:
        moved = False
        for number, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
            current = groups[number]
            members = groups == current
            members[number] = False
            without = sizes[members].max(0, initial=0)
            saved = price(shapes[current]) * totals[current] - price(without) * (totals[current] - weight)
            added = price(np.maximum(shapes, size)) * (totals + weight) - price(shapes) * totals
            added[current] = saved
            target = added.argmin()
            if added[target] < saved:
                groups[number], moved = target, True
                shapes[current], totals[current] = without, totals[current] - weight
                shapes[target], totals[target] = np.maximum(shapes[target], size), totals[target] + weight
    return shapes
