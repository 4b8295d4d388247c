"""A run's translation model and loss, to compute gradients outside of a training."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import optim, tasks, utils
from torch import Tensor, nn

from preln.config import Execution, RunSettings
from preln.fairseq_plugin import options
from preln.fairseq_plugin.checkpoints import load_weights
from preln.fairseq_plugin.initialisation import reinitialise_feed_forward, separate_projections
from preln.fairseq_plugin.launch import configuration, set_up_cuda
from preln.theory.gradients import Matrix

_PARAMETER = re.compile(r"(?P<stack>encoder|decoder)\.layers\.(?P<index>\d+)\.(?P<name>.+)\.weight")
_ATTENTIONS = {"self_attn": "", "encoder_attn": "cross-"}
_PROJECTIONS = {"q_proj": "Q", "k_proj": "K", "v_proj": "V", "out_proj": "O"}
_MATRICES = {"fc1": "W1", "fc2": "W2"} | {
    f"{attention}.{projection}": prefix + letter
    for attention, prefix in _ATTENTIONS.items()
    for projection, letter in _PROJECTIONS.items()
}


class Probe:
    """A run's model at initialisation, with its stacks of layers by name, its batches and its loss.

    Weights and batches equal those of the training: fairseq derives both from the run's seed.
    """

    def __init__(
        self, settings: RunSettings, binary: Path, references: Path, languages: tuple[str, str], execution: Execution
    ) -> None:
        """The arguments are those of `options.translation`."""
        set_up_cuda()
        # The probe writes no state; any folder will do. Measurements look vectors up by sentence and position.
        arguments = options.translation(settings, binary, references, languages, binary, execution.padded)
        cfg = configuration(arguments, settings.precision)
        self._device = torch.device("cuda" if execution.gpus else "cpu")
        self._cfg = cfg
        # The order of fairseq's training, so that the seed gives the same weights.
        np.random.seed(cfg.common.seed)
        utils.set_torch_seed(cfg.common.seed)
        self._task = tasks.setup_task(cfg.task)
        self.model = self._task.build_model(cfg.model).to(self._device).train()
        self.stacks: dict[str, nn.Module] = {"encoder": self.model.encoder, "decoder": self.model.decoder}
        self._criterion = self._task.build_criterion(cfg.criterion).train()
        self._optimizer = optim.build_optimizer(cfg.optimizer, list(self.model.parameters()))

    def batches(self, count: int) -> Iterator[Any]:
        """The first `count` batches of the training's first epoch."""
        self._task.load_dataset("train")
        iterator = self._task.get_batch_iterator(
            self._task.dataset("train"),
            max_tokens=self._cfg.dataset.max_tokens,
            max_positions=utils.resolve_max_positions(self._task.max_positions(), self.model.max_positions()),
            ignore_invalid_inputs=True,
            required_batch_size_multiple=self._cfg.dataset.required_batch_size_multiple,
            seed=self._cfg.common.seed,
            epoch=1,
        )
        for batch in islice(iterator.next_epoch_itr(shuffle=True), count):
            yield utils.move_to_cuda(batch) if self._device.type == "cuda" else batch

    def loss(self, batch: Any) -> Tensor:
        """A batch's loss, with the run's label smoothing, in nats a target token."""
        total, tokens, _ = self._criterion(self.model, batch)
        return total / tokens

    def differentiate(self, batches: Sequence[Any], update: int) -> None:
        """Compute an update's gradient as fairseq's trainer does, with its dropout, and leave it in the weights."""
        utils.set_torch_seed(self._cfg.common.seed + update - 1)
        self._optimizer.zero_grad()
        tokens = 0
        for batch in batches:
            total, count, _ = self._criterion(self.model, batch)
            self._optimizer.backward(total)
            tokens += count
        self._optimizer.multiply_grads(1 / tokens)
        self._optimizer.clip_grad_norm(self._cfg.optimization.clip_norm)

    def step(self, rate: float) -> None:
        self._optimizer.set_lr(rate)
        self._optimizer.step()

    def held_out(self, tokens: int) -> Any:
        """The first sentences of the validation text, at most `tokens` tokens with padding."""
        self._task.load_dataset("valid")
        valid = self._task.dataset("valid")
        lengths = np.maximum(valid.src_sizes, valid.tgt_sizes)
        count = max(1, int((np.maximum.accumulate(lengths) * np.arange(1, len(lengths) + 1) <= tokens).sum()))
        batch = valid.collater([valid[i] for i in range(count)])
        return utils.move_to_cuda(batch) if self._device.type == "cuda" else batch

    def last_states(self, batch: Any) -> Tensor:
        """The decoder's last hidden states at a batch's words, of shape (words, d)."""
        states, _ = self.model(**batch["net_input"], features_only=True)
        return states[self.words(batch, "decoder")]

    def words(self, batch: Any, stack: str) -> Tensor:
        """A mask of the positions that hold words, in the shape (batch, length) of a stack's hidden states."""
        tokens = batch["net_input"]["src_tokens" if stack == "encoder" else "prev_output_tokens"]
        return tokens.ne(self._task.target_dictionary.pad())

    def load(self, weights: Path) -> None:
        load_weights(self.model, weights, self._device)

    def matrices(self) -> list[Matrix]:
        """The model's weight matrices, each once."""
        matrices = []
        for name, weight in self.model.named_parameters():
            if match := _PARAMETER.fullmatch(name):
                if match["name"] in _MATRICES:
                    matrices.append(Matrix(match["stack"], int(match["index"]) + 1, _MATRICES[match["name"]], weight))
            elif weight.dim() == 2:
                matrices.append(Matrix("", None, "output" if "output" in name else "embeddings", weight))
        return matrices


def separate_output(probe: Probe) -> None:
    """Give the softmax its own matrix, initialised as fairseq's unshared one, N(0, 1/d)."""
    projection = probe.model.decoder.output_projection
    projection.weight = nn.Parameter(torch.randn_like(projection.weight) * projection.weight.size(1) ** -0.5)


VARIED_WEIGHTS: dict[str, Callable[[Probe], None]] = {
    "separate-output": separate_output,
    "unpacked-projections": lambda probe: separate_projections(probe.model),
    "xavier-feed-forward": lambda probe: reinitialise_feed_forward(probe.model),
}
"""The variants that change the weights."""
