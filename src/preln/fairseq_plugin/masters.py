"""The fp32 masters of a training in half precision, whose weights are their roundings, and the scale of its loss.

An update is made to the masters. fairseq's checkpoints have the weights alone: a training that went on from one would
do so from rounded masters, and know the value of the loss scale but not when it changes.
"""

from __future__ import annotations

from typing import Any

import torch
from fairseq.optim.fp16_optimizer import FP16Optimizer
from torch import Tensor


def in_half_precision(optimizer: Any) -> bool:
    """Whether an optimizer of fairseq's trainer has masters."""
    return isinstance(optimizer, FP16Optimizer)


def state_of(optimizer: FP16Optimizer) -> dict[str, Any]:
    """What a checkpoint must have beside fairseq's: the masters, and all that the loss scale depends on (fp16)."""
    return {
        "masters": [master.detach().cpu() for master in optimizer.params],
        "scaler": dict(vars(optimizer.scaler)) if optimizer.scaler else None,
    }


@torch.no_grad()
def restore(optimizer: FP16Optimizer, state: dict[str, Any]) -> None:
    """Take up the state of a checkpoint."""
    for master, saved in zip(optimizer.params, state["masters"], strict=True):
        master.copy_(saved)
    if optimizer.scaler:
        vars(optimizer.scaler).update(state["scaler"])


def weights_in_fp32(model: Any, optimizer: Any) -> dict[str, Tensor]:
    """A model's weights by name: in half precision their masters."""
    if not in_half_precision(optimizer):
        weights: dict[str, Tensor] = model.state_dict()
        return weights
    masters = dict(zip(optimizer.fp16_params, _one_by_one(optimizer), strict=True))
    return {
        name: masters.get(value, value.float() if value.is_floating_point() else value)
        for name, value in model.state_dict(keep_vars=True).items()
    }


def _one_by_one(optimizer: FP16Optimizer) -> list[Tensor]:
    """The master of each weight; fairseq keeps all of fp16 in one tensor."""
    weights = optimizer.fp16_params
    masters = [master.detach() for master in optimizer.params]
    if optimizer.has_flat_params:
        masters = list(masters[0].split([weight.numel() for weight in weights]))
    return [master.view_as(weight) for master, weight in zip(masters, weights, strict=True)]
