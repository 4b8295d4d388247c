"""The closed-form schedules of `preln.schedules` behind fairseq's interface."""

from dataclasses import dataclass, field
from typing import Any, List

from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from omegaconf import II

from preln import schedules
from preln.config import RunSettings
from preln.schedules.linear import Linear


@dataclass
class ScheduleConfig(FairseqDataclass):
    """The run that names the schedule."""

    run_settings: str = field(default="", metadata={"help": "the run's settings, as JSON"})


@register_lr_scheduler("preln_schedule", dataclass=ScheduleConfig)
class Schedule(FairseqLRScheduler):
    """Sets the next update's rate after each update.

    fairseq's own `inverse_sqrt` divides by the length of the warm-up, so it needs one, and its rates lag by an update.
    """

    def __init__(self, cfg: ScheduleConfig, optimizer: FairseqOptimizer) -> None:
        super().__init__(cfg, optimizer)
        self.settings = RunSettings.model_validate_json(cfg.run_settings)
        self.schedule = schedules.of(self.settings)
        self.updates = 0
        self.drop_update: int | None = None
        self.step_update(0)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "drop_update": self.drop_update}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.drop_update = state_dict["drop_update"]

    def step_begin_epoch(self, epoch: int) -> float:
        """Note the drop when the epoch after it begins; a training that continues inside that epoch has noted it."""
        begins = self.settings.drop_epoch is not None and epoch == self.settings.drop_epoch + 1
        if begins and self.drop_update is None:
            self.drop_update = self.updates
        return self.step_update(self.updates)

    def step_update(self, num_updates: int) -> float:
        self.updates = num_updates
        self.optimizer.set_lr(self.schedule.rate(num_updates + 1, self.drop_update))
        return float(self.optimizer.get_lr())


@dataclass
class LinearConfig(FairseqDataclass):
    """A linear decay."""

    warmup: int = field(default=0, metadata={"help": "updates of linear warm-up"})
    total_updates: int = field(default=1, metadata={"help": "the update at which the rate is zero"})
    lr: List[float] = II("optimization.lr")


@register_lr_scheduler("preln_linear", dataclass=LinearConfig)
class LinearScheduler(FairseqLRScheduler):
    """Sets the next update's rate after each update; fairseq's own begins a warm-up with an update at rate 0."""

    def __init__(self, cfg: LinearConfig, optimizer: FairseqOptimizer) -> None:
        super().__init__(cfg, optimizer)
        self.schedule = Linear(cfg.lr[0], cfg.warmup, cfg.total_updates)
        self.step_update(0)

    def step_update(self, num_updates: int) -> float:
        self.optimizer.set_lr(self.schedule.rate(num_updates + 1))
        return float(self.optimizer.get_lr())
