"""What every recorded training has in common: a guard against explosion, a record of its own, and kept weights."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from fairseq.tasks import FairseqTask
from torch import Tensor

from preln.fairseq_plugin import masters
from preln.fairseq_plugin.batches import Noted, SharedBatches
from preln.fairseq_plugin.checkpoints import OF_STATE, CheckpointRefused, flush_newest, keep_weights
from preln.fairseq_plugin.divergence import LIMIT, position
from preln.fairseq_plugin.interruption import interruption
from preln.fused import memory
from preln.training.state import RunState


class GuardedTask(FairseqTask):
    """A fairseq task whose failures are told as what they are, and which asks a GPU for little; tasks put it in front
    of fairseq's own."""

    _copies: masters.Copies | None = None

    def get_batch_iterator(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """The batches of a dataset, with notes that save questions to a GPU."""
        batches = super().get_batch_iterator(dataset, *args, **kwargs)
        batches.collate_fn = Noted.by(batches.collate_fn, self.source_dictionary.pad())
        return batches

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int, ignore_grad: bool = False
    ) -> Any:
        """One batch. Which update it belongs to is noted for an error that may strike.

        Raises:
            MemoryError: if the GPU's memory does not suffice; fairseq would leave the batch out and go on.
            FloatingPointError: if a gradient was not finite, and fairseq looks for the layer where that begins.
        """
        position.update = update_num + 1
        if self._copies is None and masters.in_half_precision(optimizer) and not _is_reduced_later(model):
            self._copies = masters.Copies(optimizer)
        try:
            found = super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)
            if self._copies is not None:
                self._copies.take_gradients()
            return found
        except torch.OutOfMemoryError as error:
            raise MemoryError(
                f"update {update_num + 1} does not fit into the GPU's memory ({error}); make the batch smaller and "
                "accumulate larger by the same factor"
            ) from error
        except StopIteration as error:
            # What fairseq looks with cannot pass an encoder, whose output is more than a tensor.
            raise FloatingPointError("a gradient is not finite") from error

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Sum up the workers' logs, for fairseq's log."""
        super().reduce_metrics(on_cpu(logging_outputs), criterion)

    def optimizer_step(self, optimizer: Any, model: Any, update_num: int) -> None:
        """Make the update of the weights."""
        if self._copies is None:
            super().optimizer_step(optimizer, model, update_num)
        else:
            self._copies.step()
        memory.give_back()


class RecordedTask(GuardedTask):
    """A guarded task with a record of its own, which is stopped when its loss explodes, or when it is told to.

    In fp16 an update whose gradient overflows is not made: fairseq goes on with the next batch and a smaller scale of
    the loss, and validates again where the update before it ended with a validation.

    Attributes:
        run_state: the state of the run, with its record and its weights.
        weighed_by: where fairseq's log has the loss: the key of a sum, and that of the number of what it is over.
        validate_every: updates between two validations; 0 where epochs end with them.
    """

    run_state: RunState
    weighed_by: tuple[str, str]
    validate_every: int = 0
    _batches: Any = None
    _saved: bool = False
    _optimizer: Any = None
    _checkpoint: Mapping[str, Any] = MappingProxyType({})
    _made: int = 0

    def kept_as(self, update: int) -> str | None:
        """The file in the state that the weights after so many updates are kept in, if they are."""
        raise NotImplementedError

    def get_batch_iterator(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """The batches of a dataset. Those of train are shared, say where an epoch ends, and may come from a collator,
        which begins anew with each epoch; a validation has none."""
        is_train = dataset is self.datasets["train"]
        if not is_train:
            kwargs["num_workers"] = 0
        batches = super().get_batch_iterator(dataset, *args, **kwargs)
        if is_train:
            if not isinstance(batches, SharedBatches):
                batches = SharedBatches.of(batches)
            if dataset in self.dataset_to_epoch_iter:
                # What fairseq asks for again in the next epoch, and expects to have counted.
                self.dataset_to_epoch_iter[dataset] = batches
            self._batches = batches
        return batches

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int, ignore_grad: bool = False
    ) -> Any:
        """One batch; whether this worker was told to stop is in its log, for all must stop after the same update.

        The weights before it are kept, if they are to be.

        Raises:
            CheckpointRefused: if the training goes on from a checkpoint without the masters of its weights.
        """
        if self._saved and rank_and_world()[0] == 0:
            flush_newest(self.run_state)
        self._saved = False
        self._made = update_num
        if self._optimizer is None:
            self._optimizer = optimizer
            self._take_up_masters()
        self._keep(model)
        loss, size, log = super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)
        log["told_to_stop"] = float(interruption.requested)
        return loss, size, log

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Sum up the workers' losses, and stop a training whose loss has exploded, or that was told to.

        Raises:
            FloatingPointError: in all workers alike, since each sees the same sums.
        """
        logging_outputs = on_cpu(logging_outputs)
        super().reduce_metrics(logging_outputs, criterion)
        if not criterion.training:
            return
        total, units = self.weighed_by
        loss = summed(logging_outputs, total) / max(summed(logging_outputs, units), 1.0)
        uniform = math.log(len(self.target_dictionary))
        if not loss <= LIMIT * uniform:
            raise FloatingPointError(
                f"the loss is {loss / math.log(2):.4g} bits a token; guessing gives {uniform / math.log(2):.4g}"
            )
        self._made = position.update
        if summed(logging_outputs, "told_to_stop"):
            interruption.stop(position.update, validates=self._ends_with_validation())

    def _ends_with_validation(self) -> bool:
        if self.validate_every:
            return position.update % self.validate_every == 0
        return bool(self._batches.end_of_epoch())

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """See that the model can be validated, and keep its weights if they are to be kept.

        Raises:
            FloatingPointError: if the last update broke its weights.
        """
        # An update that was computed last may not have been made.
        position.update = self._made
        # All parameters have one answer together: on a GPU, each answer is a wait.
        if not torch.stack([torch.isfinite(parameter).all() for parameter in model.parameters()]).all():
            raise FloatingPointError("a weight is not finite")
        self._keep(model)

    def get_checkpoint_dict(self) -> dict[str, Any]:
        """What a checkpoint, which is about to be written, has of the task, under the name that fairseq looks for."""
        self._saved = True
        return {type(self).__name__: self.checkpoint()}

    def set_checkpoint_dict(self, state: Mapping[str, Any]) -> None:
        """Take up what a checkpoint has."""
        self._checkpoint = state

    def checkpoint(self) -> dict[str, Any]:
        """What a checkpoint has of the training that fairseq's does not: of which state it is, and in half precision
        the masters."""
        found: dict[str, Any] = {OF_STATE: self.run_state.name}
        if masters.in_half_precision(self._optimizer):
            found["half_precision"] = masters.state_of(self._optimizer)
        return found

    def _take_up_masters(self) -> None:
        if not masters.in_half_precision(self._optimizer):
            return
        if state := self._checkpoint.get("half_precision"):
            masters.restore(self._optimizer, state)
        elif self._made:
            raise CheckpointRefused(
                f"{self.run_state.folder}: its newest checkpoint has the weights in half precision alone, and a "
                "training that went on from them would be another one; move the folder away to train the run anew"
            )

    def _keep(self, model: Any) -> None:
        """Keep the model's weights in fp32, if they are to be kept and are not."""
        name = self.kept_as(self._made)
        if name and rank_and_world()[0] == 0 and not (self.run_state.folder / name).exists():
            keep_weights(self.run_state.folder / name, masters.weights_in_fp32(model, self._optimizer))

    def record(self, values: Mapping[str, Any]) -> None:
        """Append values to the record."""
        if rank_and_world()[0] > 0:
            return
        plain = {k: float(v) if isinstance(v, Tensor | np.floating) else v for k, v in values.items()}
        self.run_state.add(plain)


def on_cpu(logging_outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The workers' logs with their tensors, which have one number each, on the CPU: all are copied at once, for each
    copy waits for the GPU."""
    places = [(i, key) for i, log in enumerate(logging_outputs) for key in log if _is_elsewhere(log[key])]
    if not places:
        return logging_outputs
    copied = torch.stack([logging_outputs[i][key] for i, key in places]).cpu().unbind()
    found = [dict(log) for log in logging_outputs]
    for (i, key), number in zip(places, copied, strict=True):
        found[i][key] = number
    return found


def _is_elsewhere(value: Any) -> bool:
    return isinstance(value, Tensor) and value.device.type != "cpu"


def _is_reduced_later(model: Any) -> bool:
    """Whether the processes of a training exchange their gradients after the backward pass, and not within it."""
    return hasattr(model, "all_reduce_grads")


def summed(logging_outputs: list[dict[str, Any]], key: str) -> float:
    """The sum of a value of the workers' logs."""
    return float(sum(log[key] for log in logging_outputs))


def rank_and_world() -> tuple[int, int]:
    """This process among those that train the run together."""
    if not torch.distributed.is_initialized():
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()
