"""The closed-form schedules of `preln.schedules` behind fairseq's interface."""

import json
from dataclasses import dataclass, field
from typing import Any

from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler

from preln.schedules import SCHEDULES


@dataclass
class ScheduleConfig(FairseqDataclass):
    """fairseq's option for a schedule."""

    schedule: str = field(default="", metadata={"help": "the schedule's name and settings, as JSON"})


@register_lr_scheduler("preln_schedule", dataclass=ScheduleConfig)
class Schedule(FairseqLRScheduler):
    """Sets the next update's rate after each update.

    The rates of fairseq's own schedules lag by an update. Its `inverse_sqrt` divides by the length of the warm-up, so
    that it needs one.
    """

    def __init__(self, cfg: ScheduleConfig, optimizer: FairseqOptimizer) -> None:
        super().__init__(cfg, optimizer)
        settings = json.loads(cfg.schedule)
        self.schedule = SCHEDULES[settings.pop("name")](**settings)
        self.updates = 0
        self.drop_update: int | None = None
        self.step_update(0)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "drop_update": self.drop_update}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        # Older checkpoints of BERT have none.
        self.drop_update = state_dict.get("drop_update")

    def step_begin_epoch(self, epoch: int) -> float:
        """Note the drop when the epoch after it begins; a training that continues inside that epoch has noted it."""
        drop_epoch = getattr(self.schedule, "drop_epoch", None)
        if drop_epoch is not None and epoch == drop_epoch + 1 and self.drop_update is None:
            self.drop_update = self.updates
        return self.step_update(self.updates)

    def step_update(self, num_updates: int) -> float:
        self.updates = num_updates
        self.optimizer.set_lr(self.schedule.rate(num_updates + 1, self.drop_update))
        return float(self.optimizer.get_lr())
