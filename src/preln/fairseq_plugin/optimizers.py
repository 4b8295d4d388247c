"""torch's optimizers behind fairseq's interface. fairseq's Adam is slow on a CPU; it has no RAdam (Liu et al., 2020);
and it waits for a GPU several times an update to check the gradient norm."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from fairseq.optim import FairseqOptimizer, register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import Tensor


class _FusedAdam(torch.optim.AdamW):
    """AdamW in one pass over the weights, with epsilon where fairseq's Adam has it.

    torch adds epsilon to the root of the second moment after its bias is corrected, and fairseq before: dividing
    epsilon by the correction makes both the same.
    """

    def __init__(self, params: Any, eps: float, **options: Any) -> None:
        super().__init__(params, eps=eps, fused=True, **options)
        self._epsilon = eps
        self._updates: int | None = None

    def step(self, closure: Callable[[], float] | None = None) -> Any:
        if self._updates is None:
            self._updates = next((int(state["step"]) for state in self.state.values()), 0)
        # torch's own count is on the weights' device, and reading it waits for a GPU.
        self._updates += 1
        for group in self.param_groups:
            group["eps"] = self._epsilon / (1.0 - group["betas"][1] ** self._updates) ** 0.5
        return super().step(closure)

    def load_state_dict(self, state_dict: Any) -> None:
        super().load_state_dict(state_dict)
        self._updates = None


class _TorchOptimizer(FairseqOptimizer):
    """An optimizer of torch behind fairseq's interface.

    Attributes:
        kind: makes torch's optimizer.
    """

    kind: Callable[..., torch.optim.Optimizer]

    def __init__(self, cfg: FairseqAdamConfig, params: Iterable[torch.nn.Parameter]) -> None:
        super().__init__(cfg)
        self._optimizer = self.kind(params, **self.optimizer_config)

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """The optimizer's arguments, which override a checkpoint's."""
        return {"lr": self.cfg.lr[0], "weight_decay": self.cfg.weight_decay}

    def clip_grad_norm(self, max_norm: float, aggregate_norm_fn: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Clip all gradients to `max_norm`, unless that is 0, and return their norm.

        The norm is on the CPU, since fairseq reads it several times an update.
        """
        gradients = [weight.grad for weight in self.params if weight.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        if aggregate_norm_fn is not None:
            norm = aggregate_norm_fn(norm)
        if max_norm > 0:
            torch._foreach_mul_(gradients, (max_norm / (norm + 1e-6)).clamp(max=1.0))
        return norm.cpu()

    def multiply_grads(self, c: Tensor | float) -> None:
        """Multiply all gradients by `c`; a number on the CPU is not copied to the device."""
        gradients = [weight.grad for weight in self.params if weight.grad is not None]
        torch._foreach_mul_(gradients, c.item() if isinstance(c, Tensor) and c.device.type == "cpu" else c)

    @property
    def supports_flat_params(self) -> bool:
        """The update is element-wise, so flattened (fp16) parameters give the same numbers."""
        return True


@register_optimizer("preln_adam", dataclass=FairseqAdamConfig)
class Adam(_TorchOptimizer):
    """The update of fairseq's Adam."""

    kind: Callable[..., torch.optim.Optimizer] = _FusedAdam
    optimizer_config = FairseqAdam.optimizer_config


@register_optimizer("preln_radam", dataclass=FairseqAdamConfig)
class RAdam(Adam):
    """Rectified Adam, with weight decay as Adam has it."""

    kind = partial(torch.optim.RAdam, decoupled_weight_decay=True)


@register_optimizer("preln_sgd", dataclass=FairseqAdamConfig)
class SGD(_TorchOptimizer):
    """Stochastic gradient descent, without momentum."""

    kind = torch.optim.SGD
