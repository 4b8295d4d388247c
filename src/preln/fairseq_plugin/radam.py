"""RAdam (Liu et al., 2020) for fairseq, which has none: torch's."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, List

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer, register_optimizer
from omegaconf import II


@dataclass
class RAdamConfig(FairseqDataclass):
    """Options of RAdam; their names are those of fairseq's Adam."""

    adam_betas: str = field(default="(0.9, 0.98)", metadata={"help": "decay rates"})
    adam_eps: float = field(default=1e-9, metadata={"help": "epsilon"})
    weight_decay: float = field(default=0.0, metadata={"help": "weight decay"})
    lr: List[float] = II("optimization.lr")


@register_optimizer("preln_radam", dataclass=RAdamConfig)
class RAdam(FairseqOptimizer):
    """`torch.optim.RAdam` behind fairseq's interface."""

    def __init__(self, cfg: RAdamConfig, params: Iterable[torch.nn.Parameter]) -> None:
        super().__init__(cfg)
        self._optimizer = torch.optim.RAdam(params, **self.optimizer_config)

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """Arguments of the optimizer; a checkpoint's are overridden by them."""
        first, second = (float(beta) for beta in self.cfg.adam_betas.strip("()").split(","))
        return {
            "lr": self.cfg.lr[0],
            "betas": (first, second),
            "eps": self.cfg.adam_eps,
            "weight_decay": self.cfg.weight_decay,
            # As fairseq's Adam does it.
            "decoupled_weight_decay": True,
        }

    @property
    def supports_flat_params(self) -> bool:
        """The update is element-wise, so flattened (fp16) parameters give the same numbers."""
        return True
