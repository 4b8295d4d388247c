"""The training batches, shared by the processes so that an update's batches do not depend on their number."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from fairseq.data.data_utils import numpy_seed
from fairseq.data.iterators import EpochBatchIterator
from torch import Tensor

from preln.errors import PrelnError
from preln.fairseq_plugin.packing import Capacity, pack


class SharedBatches(EpochBatchIterator):
    """fairseq's batches of an epoch, of which each of N processes takes every N-th; with accumulation, what all of them
    take in an update are the batches that one process alone would take.

    Where an epoch's number of batches is not a multiple of the processes', fairseq gives some of them an empty batch,
    and leaves out what else such a process did in its last update. Here the last batches are divided instead. And
    fairseq notes a checkpoint's place by the batches of one process; here it is by those of all, so that another number
    of processes can go on.
    """

    @classmethod
    def of(cls, batches: EpochBatchIterator) -> Self:
        return cls(
            dataset=batches.dataset,
            collate_fn=batches.collate_fn,
            batch_sampler=batches.batch_sampler,
            seed=batches.seed,
            num_shards=batches.num_shards,
            shard_id=batches.shard_id,
            num_workers=batches.num_workers,
            epoch=batches.epoch,
            buffer_size=batches.buffer_size,
        )

    def ordered_batches(self, epoch: int, fix_batches_to_gpus: bool, shuffle: bool) -> list[Any]:
        batches = list(self.frozen_batches)
        if shuffle:
            with numpy_seed(self.seed + epoch):
                np.random.shuffle(batches)
        if remainder := len(batches) % self.num_shards:
            batches[-remainder:] = divided(batches[-remainder:], self.num_shards)
        return batches[self.shard_id :: self.num_shards]

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        return {**state, "iterations_in_epoch": state["iterations_in_epoch"] * self.num_shards}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(
            {**state_dict, "iterations_in_epoch": state_dict["iterations_in_epoch"] // self.num_shards}
        )


@dataclass(frozen=True)
class Noted:
    """A collator that also notes facts that a model would otherwise have to ask a GPU for. It packs batches in the
    `capacities`, the smallest first; a batch that fits none stays padded."""

    collate: Callable[[Any], dict[str, Any]]
    padding: int
    capacities: tuple[Capacity, ...] = ()

    @classmethod
    def by(cls, collate: Callable[[Any], dict[str, Any]], padding: int) -> Self:
        return collate if isinstance(collate, cls) else cls(collate, padding)

    def __call__(self, samples: Any) -> dict[str, Any]:
        """Collate `samples`, and pack them if they fit. Of a batch that is not packed, `padded` in the model's input
        says whether the source has padding, and `words` holds the places of the target's words."""
        batch = self.collate(samples)
        if self.capacities and batch and (packed := pack(batch, self.capacities, self.padding)) is not None:
            return packed
        if batch:
            batch["net_input"]["padded"] = bool(batch["net_input"]["src_tokens"].eq(self.padding).any())
            batch["words"] = words(batch, self.padding)
        return batch


def words(batch: dict[str, Any], padding: int) -> Tensor:
    """The places of a batch's words in its flattened target: as noted by the collator, or computed."""
    noted: Tensor | None = batch.get("words")
    return batch["target"].ne(padding).flatten().nonzero()[:, 0] if noted is None else noted


def divided(batches: list[Any], parts: int) -> list[Any]:
    """Batches that hold the same sentences, divided into so many parts.

    Raises:
        PrelnError: if a part would have none.
    """
    if (sentences := sum(map(len, batches))) < parts:
        raise PrelnError(
            f"an epoch ends with {sentences} sentence(s), too few for {parts} processes: use fewer processes or GPUs "
            "(execution: processes, gpus), or larger batches (batch_tokens; for BERT batch_sequences)"
        )
    batches = list(batches)
    while len(batches) < parts:
        largest = max(range(len(batches)), key=lambda number: len(batches[number]))
        half = len(batches[largest]) // 2
        batches.append(batches[largest][:half])
        batches[largest] = batches[largest][half:]
    return batches
