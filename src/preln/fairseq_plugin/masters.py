"""The fp32 master weights and the loss scale of a training in half precision.

Updates are made to the masters, which are rounded to the weights. fairseq's checkpoints hold only the weights: a
training that continued from one would do so from rounded masters, and without the loss scale's counters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from fairseq.optim.fp16_optimizer import FP16Optimizer
from torch import Tensor


def in_half_precision(optimizer: Any) -> bool:
    """True if an optimizer of fairseq's trainer has masters."""
    return isinstance(optimizer, FP16Optimizer)


class Copies:
    """Copies between weights and masters, all at once.

    fairseq copies them one by one: on a GPU each copy is a launch, and three for each weight are half of an update's
    launches. The result is the same.
    """

    def __init__(self, optimizer: FP16Optimizer) -> None:
        self._optimizer = optimizer
        self._weights: list[Tensor] = optimizer.fp16_params
        self._masters = _one_by_one(optimizer, optimizer.params)
        self._kept: list[Tensor] = [master.grad for master in optimizer.params]
        self._gradients = _one_by_one(optimizer, self._kept)

    @torch.no_grad()
    def take_gradients(self) -> None:
        """Copy the weights' gradients to the masters, after an update's last backward pass."""
        self.hand_over()
        self.copy_gradients()
        self._optimizer._needs_sync = False

    def hand_over(self) -> None:
        """Give the masters their gradients, which they do not have between updates."""
        for master, gradient in zip(self._optimizer.params, self._kept, strict=True):
            master.grad = gradient

    @torch.no_grad()
    def copy_gradients(self) -> None:
        """Copy the weights' gradients to those of the masters."""
        pairs = list(zip(self._gradients, self._weights, strict=True))
        if unused := [gradient for gradient, weight in pairs if weight.grad is None]:
            torch._foreach_zero_(unused)
        used = [(gradient, weight.grad) for gradient, weight in pairs if weight.grad is not None]
        torch._foreach_copy_([gradient for gradient, _ in used], [source for _, source in used])

    @torch.no_grad()
    def step(self) -> None:
        """Update the masters, and round them to the weights, as fairseq's optimizer does."""
        optimizer = self._optimizer
        optimizer._unscale_grads()
        optimizer.fp32_optimizer.step()
        if optimizer.scaler is not None:
            optimizer.scaler.update()
        torch._foreach_copy_(self._weights, self._masters)
        if not optimizer.has_flat_params:
            # fairseq would otherwise zero them one by one before they are overwritten.
            for master in optimizer.params:
                master.grad = None


def state_of(optimizer: FP16Optimizer) -> dict[str, Any]:
    """The optimizer's state that fairseq's checkpoints lack: the masters, and in fp16 the state of the loss scale."""
    return {
        "masters": [master.detach().cpu() for master in optimizer.params],
        "scaler": dict(vars(optimizer.scaler)) if optimizer.scaler else None,
    }


@torch.no_grad()
def restore(optimizer: FP16Optimizer, state: dict[str, Any]) -> None:
    for master, saved in zip(optimizer.params, state["masters"], strict=True):
        master.copy_(saved)
    if optimizer.scaler:
        vars(optimizer.scaler).update(state["scaler"])


def weights_in_fp32(model: Any, optimizer: Any) -> dict[str, Tensor]:
    """A model's weights by name; in half precision, their masters."""
    if not in_half_precision(optimizer):
        return model.state_dict()
    masters = dict(zip(optimizer.fp16_params, _one_by_one(optimizer, optimizer.params), strict=True))
    return {
        name: masters.get(value, value.float() if value.is_floating_point() else value)
        for name, value in model.state_dict(keep_vars=True).items()
    }


def _one_by_one(optimizer: FP16Optimizer, values: Iterable[Tensor]) -> list[Tensor]:
    """Each weight's value, such as its master, in its shape; in fp16, fairseq keeps all in one flat tensor."""
    weights = optimizer.fp16_params
    tensors = [value.detach() for value in values]
    if optimizer.has_flat_params:
        tensors = list(torch.split(tensors[0], [weight.numel() for weight in weights]))
    return [tensor.view_as(weight) for tensor, weight in zip(tensors, weights, strict=True)]
