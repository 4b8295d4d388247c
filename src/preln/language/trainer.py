"""A language model in training, whole: its batches, its updates, its validations.

The draws of an update depend on the run's seed and the update's number alone, so a training that goes on needs no state
of a generator, and several processes share a batch that one would have. Dropout depends on the process too: with
dropout, another number of processes makes other updates.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from textwrap import shorten
from typing import Any

import numpy as np
import torch
import torch.distributed as distributed
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.optim import SGD, Adam, AdamW, Muon, Optimizer, RAdam

from preln import schedules
from preln.config.language import LanguageSettings
from preln.language.model import LanguageModel
from preln.language.text import TokenText
from preln.training.divergence import LIMIT
from preln.training.graphs import distance

GRAPHS: dict[str, Any] = {"options": {"triton.cudagraphs": True, "fallback_random": True}}
"""How passes are compiled: as in the mode `reduce-overhead`, except that dropout drops the elements that it drops in
eager passes."""
TOLERANCES = {"fp32": 1e-3, "bf16": 5e-2}
"""The largest relative difference between compiled and eager passes, by precision. In bf16, compiled passes round less
often. Another draw of dropout, or another batch, differs by more."""
LONGEST_REASON = 300
"""Characters of what a compiler says, in the line that says that it failed."""

Batch = tuple[Tensor, Tensor]
"""Tokens, and the tokens that follow each of them, of shape (sequences, length) both."""

logger = logging.getLogger(__name__)


class Diverged(Exception):
    """An update whose loss is not finite or has exploded, by its number, or whose validation's is not finite."""

    def __init__(self, update: int, reason: str) -> None:
        super().__init__(reason)
        self.update = update


class Trainer:
    """A model and its optimizers, between two updates.

    Attributes:
        model: the model.
        done: the updates that are done.
        rate: the learning rate of the last of them.
        asked: whether this process was asked to stop.
        stop: whether one of the training's processes was, as all of them know since the last update.
    """

    def __init__(
        self, settings: LanguageSettings, text: TokenText, rank: int = 0, processes: int = 1, device: str = "cpu"
    ) -> None:
        self._settings, self._text, self._rank, self._processes, self._device = settings, text, rank, processes, device
        torch.manual_seed(settings.seed)
        # A GPU would draw other weights from the same seed.
        self.model = LanguageModel(settings, text.vocabulary)
        self.model.initialise(self.batches(0)[0][0].cpu())
        self.model.to(device)
        self.optimizers = optimizers(self.model, settings)
        self.done, self.rate, self.asked, self.stop = 0, 0.0, False, False
        self._schedule = schedules.of(settings)
        self._ddp = DistributedDataParallel(self.model) if processes > 1 else None
        self._compiled: Callable[[Tensor, Tensor], Tensor] | None = None

    def compile(self) -> None:
        """Compile the passes of the updates, and record them as CUDA graphs.

        They are first checked against the eager passes, on the next batches. If they differ, or do not compile, a line
        says so, and the updates stay eager.
        """
        # The first pass reserves memory, the second is recorded, and the third replayed, on another batch.
        updates = (self.done + 1, self.done + 2, self.done + 1)
        eager = [part for update in updates for part in self._passes(update)]
        self._compiled = torch.compile(self._loss, fullgraph=True, **GRAPHS)
        try:
            compiled = [part for update in updates for part in self._passes(update)]
        except Exception as error:  # A compiler may fail in any way.
            reason = f"they do not compile ({shorten(str(error), LONGEST_REASON)})"
        else:
            difference = max(map(distance, eager, compiled))
            if difference <= TOLERANCES[self._settings.precision]:
                return
            reason = f"they differ from the eager ones by {difference:.2g}"
        self._compiled = None
        self.model.zero_grad()
        logger.warning("the passes are not recorded as CUDA graphs: %s; the training goes on without graphs", reason)

    def update(self) -> tuple[float, float]:
        """Make an update.

        Returns:
            Its training loss, in bits a token, and the norm of its gradient before clipping.

        Raises:
            Diverged: if the loss is not finite or has exploded; the weights are then as before the update.
        """
        update = self.done + 1
        self.rate = self._schedule.rate(update)
        loss, norm = self.differentiate(self.batches(update), update)
        nats = self._together(loss)
        if not math.isfinite(nats) or nats > LIMIT * math.log(self._text.vocabulary):
            raise Diverged(update, f"the training loss is {nats / math.log(2):.4g} bits a token")
        self.step(self.rate)
        self.done = update
        return nats / math.log(2), norm

    def differentiate(self, batches: Sequence[Batch], update: int) -> tuple[float, float]:
        """Leave the clipped gradient of an update, by this process's batches of it, in the weights, and return the loss
        of these batches, in nats a token, and the norm of the gradient before clipping."""
        torch.manual_seed(int(self._generator(update, 1 + self._rank).integers(2**32)))
        loss = torch.zeros((), device=self._device)
        for number, (tokens, targets) in enumerate(batches, start=1):
            # Processes add their gradients after the last of their batches.
            with self._ddp.no_sync() if self._ddp and number < len(batches) else nullcontext():
                share = (self._compiled or self._loss)(tokens, targets) / len(batches)
                share.backward()  # type: ignore[no-untyped-call]
            loss += share.detach()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self._settings.clip_norm or math.inf)
        return float(loss), float(norm)

    def step(self, rate: float) -> None:
        """Update the weights by their gradient at a learning rate, and clear it."""
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            # Graphs add gradients to memory that stays.
            optimizer.zero_grad(set_to_none=self._compiled is None)

    @torch.no_grad()
    def validate(self) -> float:
        """The loss on valid, in bits a token.

        Raises:
            Diverged: if it is not finite.
        """
        settings, nats = self._settings, 0.0
        starts = self._text.valid_starts(settings)
        self.model.eval()
        for first in range(0, len(starts), settings.batch_sequences):
            some = starts[first : first + settings.batch_sequences]
            tokens, targets = self.batch(some, "valid")
            nats += float(loss_of(self.model(tokens), targets)) * len(some)
        self.model.train()
        if not math.isfinite(nats):
            raise Diverged(self.done, "the loss of a validation is not finite")
        return nats / len(starts) / math.log(2)

    def state(self) -> dict[str, Any]:
        """All that the next updates depend on."""
        states = [optimizer.state_dict() for optimizer in self.optimizers]
        return {"done": self.done, "rate": self.rate, "model": self.model.state_dict(), "optimizers": states}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state that `state` returned."""
        self.done, self.rate = state["done"], state["rate"]
        self.model.load_state_dict(state["model"])
        for optimizer, of_optimizer in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(of_optimizer)

    def batches(self, update: int) -> list[Batch]:
        """This process's batches of an update: sequences that begin anywhere in train."""
        settings = self._settings
        sequences = settings.batch_sequences * settings.accumulate
        last = len(self._text.train) - settings.sequence_length
        starts = self._generator(update, 0).integers(last, size=sequences).reshape(settings.accumulate, -1)
        return [self.batch(some, "train") for some in starts[self._rank :: self._processes].tolist()]

    def batch(self, starts: list[int], part: str) -> Batch:
        tokens, targets = self._text.batch(starts, self._settings.sequence_length, part)
        return tokens.to(self._device, non_blocking=True), targets.to(self._device, non_blocking=True)

    def _loss(self, tokens: Tensor, targets: Tensor) -> Tensor:
        return loss_of((self._ddp or self.model)(tokens), targets)

    def _passes(self, update: int) -> list[list[Tensor]]:
        """The loss, the norm of the gradient and the clipped gradient of an update that is not made. The gradients of
        the weights are zeros afterwards."""
        loss, norm = self.differentiate(self.batches(update), update)
        gradients = [weight.grad for weight in self.model.parameters() if weight.grad is not None]
        copies = [gradient.clone() for gradient in gradients]
        torch._foreach_zero_(gradients)
        return [[torch.tensor(loss)], [torch.tensor(norm)], copies]

    def _generator(self, update: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._settings.seed, update, purpose])

    def _together(self, loss: float) -> float:
        """The mean of the processes' losses; that one of them was asked to stop becomes known to all."""
        if self._processes == 1:
            self.stop = self.asked
            return loss
        sums = torch.tensor([loss, float(self.asked)], dtype=torch.float64, device=self._device)
        distributed.all_reduce(sums)
        self.stop = bool(sums[1])
        return float(sums[0]) / self._processes


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean cross-entropy, in nats a token, of `logits`, of shape (batch, length, vocabulary)."""
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def optimizers(model: LanguageModel, settings: LanguageSettings) -> list[Optimizer]:
    """The optimizers of a model's weights, each of which belongs to one of them."""
    of_layers = {weight for weight in model.layers.parameters() if weight.dim() > 1}
    options: dict[str, Any] = {"lr": settings.learning_rate}
    if settings.optimizer == "sgd":
        return [SGD(_groups(model.parameters(), settings), **options)]
    of_adam = {**options, "betas": (settings.beta1, settings.beta2), "eps": settings.epsilon}
    if settings.optimizer == "adam":
        return [Adam(_groups(model.parameters(), settings), fused=True, **of_adam)]
    if settings.optimizer == "radam":
        return [RAdam(_groups(model.parameters(), settings), decoupled_weight_decay=True, **of_adam)]
    if settings.optimizer == "adamw":
        return [AdamW(_groups(model.parameters(), settings), fused=True, **of_adam)]
    others = (weight for weight in model.parameters() if weight not in of_layers)
    matrices = [weight for weight in model.parameters() if weight in of_layers]
    of_muon: dict[str, Any] = {"momentum": settings.beta1, "weight_decay": settings.weight_decay}
    muon = Muon(matrices, adjust_lr_fn="match_rms_adamw", **options, **of_muon)
    return [muon, AdamW(_groups(others, settings), fused=True, **of_adam)]


def _groups(weights: Iterable[nn.Parameter], settings: LanguageSettings) -> list[dict[str, Any]]:
    """Matrices, which decay, and vectors, which do not."""
    every = list(weights)
    matrices, vectors = ([weight for weight in every if (weight.dim() > 1) == kind] for kind in (True, False))
    groups = [{"params": matrices, "weight_decay": settings.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
