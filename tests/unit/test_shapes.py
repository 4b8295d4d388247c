"""What batches of a few shapes cost, counted against trying everything out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, product

import numpy as np
import pytest
from fairseq.data import Dictionary, LanguagePairDataset
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import shapes

Sizes = list[tuple[int, ...]]


def sizes(columns: int, most: int) -> st.SearchStrategy[Sizes]:
    return st.lists(st.tuples(*[st.integers(1, 9)] * columns), min_size=1, max_size=most)


def price(size: tuple[int, ...]) -> int:
    """The places of a batch (sentences, source, target) or of a pair (source, target)."""
    return size[0] * (size[1] + size[2]) if len(size) == 3 else size[0] + size[1]


def union(group: Sizes) -> tuple[int, ...]:
    return tuple(max(column) for column in zip(*group, strict=True))


def cheapest(size: tuple[int, ...], offered: Sizes) -> tuple[int, ...]:
    """The shape with the fewest places among those that have room."""
    return min((one for one in offered if all(a <= b for a, b in zip(size, one, strict=True))), key=price)


def fewest(batches: Sizes, count: int) -> int:
    """The places of the best of all ways to put batches into so many groups."""

    def of(groups: tuple[int, ...]) -> Iterator[int]:
        for group in set(groups):
            members = [batch for batch, mine in zip(batches, groups, strict=True) if mine == group]
            yield len(members) * price(union(members))

    return min(sum(of(groups)) for groups in product(range(count), repeat=len(batches)))


def test_a_batchs_shape_is_its_sentences_and_the_longest_of_each_side() -> None:
    # fairseq leaves out what is left at the end, if it is fewer than eight.
    source, target = [3, 4, 9, 4], [5, 2, 9, 4]
    words = Dictionary()
    sides = [([[0] * length for length in lengths], np.array(lengths), words) for lengths in (source, target)]
    text = LanguagePairDataset(*sides[0], *sides[1])
    assert shapes.fairseqs(text, tokens=9).tolist() == [[1, 3, 5], [2, 4, 4]]


@given(sizes(3, 30), sizes(3, 4))
def test_a_batch_is_padded_to_the_smallest_shape_that_has_room(batches: Sizes, some: Sizes) -> None:
    offered = [*some, union(batches)]
    expected = sum(price(cheapest(batch, offered)) for batch in batches)
    assert shapes.padded(np.array(batches), np.array(offered)) == expected


@given(sizes(2, 60), sizes(2, 3), st.integers(10, 200))
def test_batches_made_anew_are_full_to_the_last_of_a_shape(pairs: Sizes, some: Sizes, tokens: int) -> None:
    # Two equal shapes would share the pairs.
    offered = list({price(shape): shape for shape in [*some, union(pairs)]}.values())
    offered = [*(one for one in offered if one != union(pairs)), union(pairs)]
    batches, places = 0, 0
    for shape, of_shape in groupby(sorted(cheapest(pair, offered) for pair in pairs)):
        rows = tokens // max(shape)
        rows = rows if rows < 8 else rows // 8 * 8
        left = len(list(of_shape))
        while left > 0:
            left, batches, places = left - rows, batches + 1, places + rows * price(shape)
    assert shapes.new_batches(np.array(pairs), np.array(offered), tokens) == (batches, places)


@given(sizes(3, 40), st.integers(1, 6))
def test_each_batch_has_room_in_a_chosen_shape_and_several_cost_no_more_than_one(batches: Sizes, count: int) -> None:
    result = shapes.chosen(np.array(batches), count, shapes.of_batches)
    assert len(result) <= count
    assert all((result >= batch).all(1).any() for batch in batches)
    assert shapes.padded(np.array(batches), result) <= len(batches) * price(union(batches))


@given(sizes(3, 6), st.integers(1, 3))
def test_no_choice_has_fewer_places_than_the_best(batches: Sizes, count: int) -> None:
    result = shapes.chosen(np.array(batches), count, shapes.of_batches)
    assert shapes.padded(np.array(batches), result) >= fewest(batches, count)


@pytest.mark.parametrize("count", [2, 3])
def test_the_choice_is_nearly_always_the_best(count: int) -> None:
    draw = np.random.default_rng(1)
    more = []
    for _ in range(40):
        batches = draw.integers(1, 20, (7, 3))
        result = shapes.padded(batches, shapes.chosen(batches, count, shapes.of_batches))
        more.append(result / fewest([tuple(batch) for batch in batches.tolist()], count) - 1)
    assert np.median(more) == 0
    assert np.mean(more) < 0.02
