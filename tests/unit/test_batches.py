"""Processes that share batches make the updates that one would make."""

from itertools import chain, islice

import pytest
from fairseq.data import FairseqDataset
from fairseq.data.iterators import EpochBatchIterator, GroupedIterator
from hypothesis import given
from hypothesis import strategies as st

from preln.errors import PrelnError
from preln.fairseq_plugin.batches import Noted, SharedBatches, divided, words
from tests.unit.test_packing import text

ACCUMULATE = 8


class Numbers(FairseqDataset):
    """A corpus whose sentences are their own numbers."""

    def __getitem__(self, index: int) -> int:
        return index

    def __len__(self) -> int:
        return 10**6


def fairseqs(sizes: list[int], shards: int = 1, shard: int = 0) -> EpochBatchIterator:
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    batches = [list(range(start, start + size)) for start, size in zip(starts, sizes, strict=True)]
    return EpochBatchIterator(Numbers(), list, batches, seed=3, num_shards=shards, shard_id=shard)


def updates(batches: EpochBatchIterator, accumulate: int, stop: int | None = None) -> list[list[list[int]]]:
    """The batches of each update, up to a `stop`."""
    return list(islice(GroupedIterator(batches.next_epoch_itr(), accumulate), stop))


def sentences(update: list[list[int]]) -> list[int]:
    return sorted(sentence for batch in update for sentence in batch)


SIZES = st.lists(st.integers(8, 12), min_size=1, max_size=40)
SHARDS = st.sampled_from([1, 2, 4, 8])


@given(SIZES)
def test_one_process_has_the_batches_of_fairseq_in_its_order(sizes: list[int]) -> None:
    assert updates(SharedBatches.of(fairseqs(sizes)), ACCUMULATE) == updates(fairseqs(sizes), ACCUMULATE)


@given(SIZES, SHARDS)
def test_processes_share_each_updates_sentences_and_none_has_an_empty_batch(sizes: list[int], shards: int) -> None:
    alone = updates(SharedBatches.of(fairseqs(sizes)), ACCUMULATE)
    shared = [updates(SharedBatches.of(fairseqs(sizes, shards, n)), ACCUMULATE // shards) for n in range(shards)]
    together = [list(chain(*parts)) for parts in zip(*shared, strict=True)]
    assert list(map(sentences, together)) == list(map(sentences, alone))
    assert all(batch for update in together for batch in update)


@given(SIZES, SHARDS, SHARDS, st.integers(1, 3))
def test_other_processes_go_on_where_the_first_stopped(sizes: list[int], before: int, after: int, stop: int) -> None:
    alone = updates(SharedBatches.of(fairseqs(sizes)), ACCUMULATE)
    first = SharedBatches.of(fairseqs(sizes, before))
    updates(first, ACCUMULATE // before, stop)
    place = first.state_dict()
    shared = []
    for number in range(after):
        batches = SharedBatches.of(fairseqs(sizes, after, number))
        batches.load_state_dict(place)
        if stop >= len(alone):
            assert batches.epoch == 2
            return
        shared.append(updates(batches, ACCUMULATE // after))
    together = [list(chain(*parts)) for parts in zip(*shared, strict=True)]
    assert list(map(sentences, together)) == list(map(sentences, alone[stop:]))


def test_fewer_sentences_than_processes_are_refused() -> None:
    with pytest.raises(PrelnError, match="ends with 1 sentence"):
        divided([[1]], 2)


def test_the_words_and_the_padding_of_a_batch_are_noted() -> None:
    pairs = text([(length, length) for length in range(2, 8)])
    padding = pairs.tgt_dict.pad()
    collate = Noted.by(pairs.collater, padding)
    assert Noted.by(collate, padding) is collate, "they are noted once"
    for numbers, has_padding in (([1, 4, 2], True), ([3], False)):
        batch = collate([pairs[number] for number in numbers])
        assert batch["net_input"]["padded"] is has_padding
        target = batch["target"]
        assert target.flatten()[batch["words"]].tolist() == target[target.ne(padding)].tolist()
        assert words({"target": target}, padding).equal(batch["words"])
