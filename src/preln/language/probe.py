"""A language model at initialisation, its updates and its loss, to measure gradients and trace first updates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as counted
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from preln.config.language import LanguageSettings
from preln.language.text import TokenText
from preln.language.trainer import Batch, Diverged, Trainer, loss_of
from preln.theory.gradients import Matrix


class Probe:
    """A run's model at initialisation, in fp32, with the updates of its training; the model is one stack of layers."""

    def __init__(self, settings: LanguageSettings, text: TokenText, device: str = "cpu") -> None:
        self._settings, self._text = settings.model_copy(update={"precision": "fp32"}), text
        self._trainer = Trainer(self._settings, text, device=device)
        self.model = self._trainer.model
        self.differentiate, self.step = self._trainer.differentiate, self._trainer.step
        self.load = self.model.load_state_dict
        self.stacks: dict[str, nn.Module] = {"decoder": self.model}

    def batches(self, count: int) -> Iterator[Batch]:
        """The first `count` batches of the training."""
        every = (batch for update in counted(1) for batch in self._trainer.batches(update))
        return islice(every, count)

    def held_out(self, tokens: int) -> Batch:
        """The first sequences of valid, at most `tokens` tokens, or one sequence."""
        starts = self._text.valid_starts(self._settings.model_copy(update={"valid_tokens": tokens}))
        return self._trainer.batch(starts, "valid")

    def loss(self, batch: Batch) -> Tensor:
        """A batch's loss, in nats a token."""
        tokens, targets = batch
        return loss_of(self.model(tokens), targets)

    def last_states(self, batch: Batch) -> Tensor:
        """The last hidden states of a batch's tokens, of shape (tokens, d)."""
        return self.model.states(batch[0]).flatten(0, 1)

    def words(self, batch: Batch, stack: str) -> Tensor:
        """A mask of the tokens, of shape (batch, length): all of them."""
        return torch.ones_like(batch[0], dtype=torch.bool)

    def matrices(self) -> list[Matrix]:
        model: Any = self.model
        shared = {"embeddings": model.embedding.weight, "positions": model.position}
        if not self._settings.tied:
            shared["output"] = model.output.weight
        matrices = [Matrix("", None, name, weight) for name, weight in shared.items() if weight is not None]
        for number, layer in enumerate(model.layers, start=1):
            attention, feed_forward = layer.attention, layer.feed_forward
            parts = {"Q": attention.query, "K": attention.key, "V": attention.value, "O": attention.output}
            parts |= {"W1": feed_forward.w1, "W2": feed_forward.w2, "W3": feed_forward.w3}
            matrices += [Matrix("decoder", number, name, part.weight) for name, part in parts.items() if part]
        return matrices


def after_warmup(settings: LanguageSettings, text: TokenText, device: str = "cpu") -> dict[str, Tensor] | None:
    """The weights at the end of a run's warm-up, which is trained once more; None if it diverges before.

    This is one process. Where the run had several, its dropout was drawn otherwise.
    """
    trainer = Trainer(settings, text, device=device)
    try:
        for _ in range(settings.warmup):
            trainer.update()
    except Diverged:
        return None
    return trainer.model.state_dict()
