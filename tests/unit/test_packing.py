"""Packed batches have fairseq's sentences, in sizes that are known before the training begins."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.data.data_utils import numpy_seed
from hypothesis import given
from hypothesis import strategies as st

from preln.fairseq_plugin.batches import Noted
from preln.fairseq_plugin.packing import CAPACITIES, Capacity, capacities, pack, unpack

PAD = 1
LENGTHS = st.lists(st.tuples(st.integers(2, 12), st.integers(2, 12)), min_size=1, max_size=60)
"""The tokens of pairs; a sentence has a word and its end, at least."""


def text(lengths: list[tuple[int, int]]) -> LanguagePairDataset:
    """Pairs of sentences of such lengths, whose tokens are all different."""
    dictionary = Dictionary()
    for number in range(1000):
        dictionary.add_symbol(str(number))
    tokens = iter(range(4, 4 + sum(map(sum, lengths))))
    source, target = (
        [torch.tensor([*[next(tokens) for _ in range(pair[side] - 1)], dictionary.eos()]) for pair in lengths]
        for side in (0, 1)
    )
    sizes = [np.array([pair[side] for pair in lengths]) for side in (0, 1)]
    return LanguagePairDataset(source, sizes[0], dictionary, target, sizes[1], dictionary, shuffle=True)


def batches(pairs: LanguagePairDataset, epoch: int = 1) -> list[list[int]]:
    with numpy_seed(1 + epoch):
        indices = pairs.ordered_indices()
    return [list(batch) for batch in pairs.batch_by_size(indices, max_tokens=40)]


def sizes_of(pairs: LanguagePairDataset, epoch: int = 1) -> tuple[Capacity, ...]:
    return capacities(batches(pairs, epoch), (pairs.src_sizes, pairs.tgt_sizes))


@given(LENGTHS)
def test_a_batch_has_its_words_in_order_in_the_first_capacity_that_holds_it_and_every_row_belongs_to_a_sentence(
    lengths: list[tuple[int, int]],
) -> None:
    pairs = text(lengths)
    sizes = sizes_of(pairs)
    assert 1 <= len(sizes) <= CAPACITIES
    for batch in batches(pairs):
        sample = pairs.collater([pairs[number] for number in batch])
        packed = pack(sample, sizes, PAD)
        assert packed is not None
        assert pack(sample, sizes[: sizes.index(packed["capacity"])], PAD) is None
        source, target, labels = unpack(packed)
        tokens, given_tokens = sample["net_input"]["src_tokens"], sample["net_input"]["prev_output_tokens"]
        words = sample["target"].ne(PAD)
        assert source.tokens[source.tokens.ne(PAD)].equal(tokens[tokens.ne(PAD)])
        assert target.tokens[: int(words.sum())].equal(given_tokens[words])
        assert labels[labels.ne(PAD)].equal(sample["target"][words])
        assert labels.ne(PAD).equal(target.tokens.ne(PAD))
        spans = [list(pairwise(side.layout.offsets.tolist())) for side in (source, target)]
        for side, sentences in zip((source, target), spans, strict=True):
            assert sentences[0][0] == 0 and sentences[-1][1] == len(side.tokens)
            assert all(0 <= end - start <= side.layout.longest for start, end in sentences)
            places = [place for start, end in sentences for place in range(end - start)]
            assert side.positions.tolist() == [PAD + 1 + place for place in places]
        # A sentence attends to the source's sentence of its number.
        assert [start < end for start, end in spans[0]] == [start < end for start, end in spans[1]]


@given(LENGTHS, st.integers(2, 5))
def test_each_epoch_has_the_capacities_of_the_first(lengths: list[tuple[int, int]], epoch: int) -> None:
    """So a training that is continued in a later epoch has the graphs that it had."""
    pairs = text(lengths)
    assert sizes_of(pairs, epoch) == sizes_of(pairs)


PAIRS = [(5, 4), (3, 6), (4, 4)]
SIZE = Capacity(rows=(16, 16), sentences=8, longest=(6, 6))


@pytest.mark.parametrize(
    "size",
    [
        replace(SIZE, rows=(11, 16)),
        replace(SIZE, rows=(16, 13)),
        replace(SIZE, sentences=3),
        replace(SIZE, longest=(4, 6)),
        replace(SIZE, longest=(6, 5)),
        # The target's tail has two sentences, and the source has room for none.
        replace(SIZE, rows=(12, 24)),
    ],
    ids=str,
)
def test_a_batch_that_does_not_fit_stays_padded(size: Capacity) -> None:
    pairs = text(PAIRS)
    samples = [pairs[number] for number in range(len(PAIRS))]
    noted = Noted.by(pairs.collater, PAD)
    assert "capacity" in replace(noted, capacities=(SIZE,))(samples)
    assert replace(noted, capacities=(size,))(samples)["net_input"]["src_tokens"].shape == (3, 5)
