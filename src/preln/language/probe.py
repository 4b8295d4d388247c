"""A language model at initialisation, its updates and its loss, to trace the first updates of its training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from preln.config.language import LanguageSettings
from preln.language.text import TokenText
from preln.language.trainer import Batch, Trainer, loss_of


class Probe:
    """A run's model at initialisation, with the updates of its training.

    Attributes:
        model: the model.
        stacks: the model, by the name of a stack of layers that it stands for.
    """

    def __init__(self, settings: LanguageSettings, text: TokenText, device: str = "cpu") -> None:
        self._settings, self._text = settings, text
        self._trainer = Trainer(settings, text, device=device)
        self.model = self._trainer.model
        self.stacks: dict[str, nn.Module] = {"decoder": self.model}

    def batches(self, count: int) -> Iterator[Batch]:
        """The first `count` batches of the training."""
        for update in range(1, count // self._settings.accumulate + 1):
            yield from self._trainer.batches(update)

    def differentiate(self, batches: Sequence[Batch], update: int) -> None:
        """Compute an update's gradient, clipped as in the training, and leave it in the weights."""
        self._trainer.differentiate(batches, update)

    def step(self, rate: float) -> None:
        """Update the weights by their gradient at a learning rate."""
        self._trainer.step(rate)

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
