"""fairseq tasks shared by all trainings, with a guard against divergence, a record, and kept weights."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from fairseq.distributed import utils as distributed
from fairseq.tasks import FairseqTask
from torch import Tensor

from preln.fairseq_plugin import masters
from preln.fairseq_plugin.batches import Noted, SharedBatches
from preln.fairseq_plugin.checkpoints import STATE_KEY, CheckpointRefused, flush_newest, keep_weights
from preln.fairseq_plugin.graphs import Graphs, Passes
from preln.fairseq_plugin.interruption import interruption
from preln.fused import memory
from preln.training.divergence import LIMIT
from preln.training.state import RunState


@dataclass
class Position:
    """The update that this process is computing, counted from 1, to locate an error."""

    update: int = 0


position = Position()


class GuardedTask(FairseqTask):
    """A mix-in before fairseq's task that reports failures as what they are and rarely waits for a GPU."""

    _copies: masters.Copies | None = None
    _graphs: Graphs | None = None

    def get_batch_iterator(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """A dataset's batches, with notes that save waiting for a GPU."""
        batches = super().get_batch_iterator(dataset, *args, **kwargs)
        batches.collate_fn = Noted.by(batches.collate_fn, self.source_dictionary.pad())
        return batches

    def examples(self) -> list[list[dict[str, Any]]]:
        """Two packed batches of the training for each capacity, from a task that packs its batches."""
        raise NotImplementedError

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int, ignore_grad: bool = False
    ) -> Any:
        """Train on one batch, and note its update to locate errors. A packed batch is computed by its graph, if it has
        one; the graphs are recorded before the first update.

        Raises:
            MemoryError: if the GPU's memory does not suffice; fairseq would skip the batch.
            FloatingPointError: if a gradient is not finite, when fairseq looks for the layer at fault.
        """
        position.update = update_num + 1
        # Such a model's processes exchange gradients after the backward pass, not within it.
        reduced_later = hasattr(model, "all_reduce_grads")
        if self._copies is None and masters.in_half_precision(optimizer) and not reduced_later:
            self._copies = masters.Copies(optimizer)
        try:
            if self._graphs is None and "capacity" in sample:
                self._graphs = Graphs(Passes(model, criterion, optimizer, self._copies), self.examples())
            if self._graphs is not None and self._graphs.hold(sample):
                return self._graphs.step(sample)
            results = super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)
            if self._copies is not None:
                self._copies.take_gradients()
            return results
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            raise MemoryError(
                f"update {update_num + 1} does not fit into the GPU's memory ({error}); make the batch smaller and "
                "accumulate larger by the same factor"
            ) from error
        except StopIteration as error:
            # fairseq's search for the layer fails at an encoder, whose output is more than a tensor.
            raise FloatingPointError("a gradient is not finite") from error

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        super().reduce_metrics(on_cpu(logging_outputs), criterion)

    def optimizer_step(self, optimizer: Any, model: Any, update_num: int) -> None:
        if self._copies is None:
            super().optimizer_step(optimizer, model, update_num)
        else:
            self._copies.step()
        memory.give_back()


class RecordedTask(GuardedTask):
    """A guarded task with a record, which stops on request or when its loss explodes.

    In fp16 an update whose gradient overflows is skipped: fairseq continues with the next batch and a smaller loss
    scale, and validates again if the update before ended with a validation.

    Attributes:
        run_state: the state of the run, with its record and its weights.
        loss_keys: the keys in fairseq's log of the summed loss and of the number of summands.
        validate_every: updates between two validations; 0 to validate at the end of each epoch.
    """

    run_state: RunState
    loss_keys: tuple[str, str]
    validate_every: int = 0
    _batches: Any = None
    _saved: bool = False
    _optimizer: Any = None
    _checkpoint: Mapping[str, Any] = MappingProxyType({})
    _updates: int = 0
    _last_kept: str = ""

    def kept_as(self, update: int) -> str | None:
        """The file in the state in which the weights after an update are kept; None if they are not."""
        raise NotImplementedError

    def get_batch_iterator(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """A dataset's batches. Training batches are shared, know where an epoch ends, and may come from a collator,
        which starts again in each epoch; a validation has no collator."""
        is_train = dataset is self.datasets["train"]
        if not is_train:
            kwargs["num_workers"] = 0
        batches = super().get_batch_iterator(dataset, *args, **kwargs)
        if is_train:
            if not isinstance(batches, SharedBatches):
                batches = SharedBatches.of(batches)
            if dataset in self.dataset_to_epoch_iter:
                # fairseq asks for it again in the next epoch, and expects its count.
                self.dataset_to_epoch_iter[dataset] = batches
            self._batches = batches
        return batches

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int, ignore_grad: bool = False
    ) -> Any:
        """Train on one batch. Its log says whether this worker was asked to stop, as all must stop after one update.

        Weights that are to be kept are written before the step.

        Raises:
            CheckpointRefused: if the training continues from a checkpoint without fp32 masters.
        """
        if self._saved and distributed.get_global_rank() == 0:
            flush_newest(self.run_state)
        self._saved = False
        self._updates = update_num
        if self._optimizer is None:
            self._optimizer = optimizer
            self._restore_masters()
        self._keep(model)
        loss, size, log = super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)
        log["stop_requested"] = float(interruption.requested)
        return loss, size, log

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Sum the workers' losses, and stop a training on request or if its loss has exploded.

        Raises:
            FloatingPointError: if the loss has exploded, in all workers, as all see the same sums.
        """
        logging_outputs = on_cpu(logging_outputs)
        super().reduce_metrics(logging_outputs, criterion)
        if not criterion.training:
            return
        total, count = self.loss_keys
        loss = summed(logging_outputs, total) / max(summed(logging_outputs, count), 1.0)
        uniform = math.log(len(self.target_dictionary))
        if not loss <= LIMIT * uniform:
            raise FloatingPointError(
                f"the loss is {loss / math.log(2):.4g} bits a token; guessing gives {uniform / math.log(2):.4g}"
            )
        self._updates = position.update
        if summed(logging_outputs, "stop_requested"):
            interruption.stop(position.update, validates=self._ends_with_validation())

    def _ends_with_validation(self) -> bool:
        if self.validate_every:
            return position.update % self.validate_every == 0
        return bool(self._batches.end_of_epoch())

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """Check the weights before a validation, and keep them if they are to be kept.

        Raises:
            FloatingPointError: if a weight is not finite.
        """
        # The last update may have been skipped.
        position.update = self._updates
        # One sync with the GPU for all parameters.
        if not torch.stack([torch.isfinite(parameter).all() for parameter in model.parameters()]).all():
            raise FloatingPointError("a weight is not finite")
        self._keep(model)

    def get_checkpoint_dict(self) -> dict[str, Any]:
        """The task's part of a checkpoint that is about to be written, under the name that fairseq looks for."""
        self._saved = True
        return {type(self).__name__: self.checkpoint()}

    def set_checkpoint_dict(self, state: Mapping[str, Any]) -> None:
        self._checkpoint = state

    def checkpoint(self) -> dict[str, Any]:
        """The values that fairseq's checkpoints lack: the state's name, and in half precision the masters."""
        content: dict[str, Any] = {STATE_KEY: self.run_state.name}
        if masters.in_half_precision(self._optimizer):
            content["half_precision"] = masters.state_of(self._optimizer)
        return content

    def _restore_masters(self) -> None:
        if not masters.in_half_precision(self._optimizer):
            return
        if state := self._checkpoint.get("half_precision"):
            masters.restore(self._optimizer, state)
        elif self._updates:
            raise CheckpointRefused(
                f"{self.run_state.folder}: its newest checkpoint lacks the fp32 weights from which the training must "
                "continue; move the folder away to train the run again"
            )

    def _keep(self, model: Any) -> None:
        name = self.kept_as(self._updates)
        # Those of an earlier attempt, from whose updates this one may depart, are replaced.
        if name and distributed.get_global_rank() == 0 and name != self._last_kept:
            keep_weights(self.run_state.folder / name, masters.weights_in_fp32(model, self._optimizer))
            self._last_kept = name

    def record(self, values: Mapping[str, Any]) -> None:
        if distributed.get_global_rank() == 0:
            self.run_state.add({k: float(v) if isinstance(v, Tensor | np.floating) else v for k, v in values.items()})


def require_finite(loss: float) -> None:
    """Raise FloatingPointError for a validation loss that is not finite: in half precision it may overflow while all
    weights are finite."""
    if not math.isfinite(loss):
        raise FloatingPointError("the loss of a validation is not finite")


def on_cpu(logging_outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The workers' logs with their scalar tensors on the CPU, in a single copy, since each copy waits for the GPU."""
    places = [
        (i, key)
        for i, log in enumerate(logging_outputs)
        for key, value in log.items()
        if isinstance(value, Tensor) and value.device.type != "cpu"
    ]
    if not places:
        return logging_outputs
    copied = torch.stack([logging_outputs[i][key] for i, key in places]).cpu().unbind()
    logs = [dict(log) for log in logging_outputs]
    for (i, key), number in zip(places, copied, strict=True):
        logs[i][key] = number
    return logs


def summed(logging_outputs: list[dict[str, Any]], key: str) -> float:
    return float(sum(log[key] for log in logging_outputs))
