"""Pre-training for the studies: a record of each validation, kept weights, and a guard against divergence.

fairseq calls the task before and after it validates, and validates before it writes a checkpoint: an update with a
checkpoint and a validation has its record, and one that is repeated after a failure writes the same record again.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairseq.logging import metrics
from fairseq.tasks import register_task
from fairseq.tasks.masked_lm import MaskedLMConfig, MaskedLMTask

from preln.config import PretrainingSettings
from preln.fairseq_plugin.checkpoints import checkpoints, name_by_update
from preln.fairseq_plugin.interruption import interruption
from preln.fairseq_plugin.recorded_task import RecordedTask, on_cpu, position, require_finite, summed
from preln.training.state import RunState

VALID_SEED = 1
"""Seed of the validation masks: every run of a study is validated on the same ones."""


def weights_name(update: int) -> str:
    """The file name in a run's state for the weights after an update."""
    return f"weights-{update}.pt"


@dataclass
class RecordedMaskedLMConfig(MaskedLMConfig):
    """fairseq's options for masked language models, and the folder of the record and the weights."""

    run_settings: str = field(default="", metadata={"help": "the run's settings, as JSON"})
    state: str = field(default="", metadata={"help": "folder of the run's record and weights"})
    keep_weights: str = field(default="", metadata={"help": "updates after which the weights are kept, by commas"})
    keep_checkpoints: int = field(default=2, metadata={"help": "how many checkpoints are kept"})


@register_task("preln_masked_lm", dataclass=RecordedMaskedLMConfig)
class RecordedMaskedLM(RecordedTask, MaskedLMTask):
    """fairseq's masked language model, recorded and guarded; it masks 15% of the tokens, of which 80% become the mask,
    10% a random token, and 10% stay."""

    def __init__(self, cfg: RecordedMaskedLMConfig, dictionary: Any = None) -> None:
        super().__init__(cfg, dictionary)
        self.loss_keys = ("loss", "sample_size")
        self.run_state = RunState(Path(cfg.state))
        self.validate_every = PretrainingSettings.model_validate_json(cfg.run_settings).validate_every
        self._kept = [int(update) for update in cfg.keep_weights.split(",") if update]
        self._rate = 0.0
        self._start()

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any) -> None:
        seed = self.cfg.seed
        try:
            self.cfg.seed = VALID_SEED if split == "valid" else seed
            super().load_dataset(split, epoch, combine, **kwargs)
        finally:
            self.cfg.seed = seed

    def train_step(
        self, sample: Any, model: Any, criterion: Any, optimizer: Any, update_num: int, ignore_grad: bool = False
    ) -> Any:
        self._rate = float(optimizer.get_lr())
        interruption.save_where_an_epoch_ends(False)
        return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """Sum the workers' losses, for fairseq's log and for the record."""
        logging_outputs = on_cpu(logging_outputs)
        super().reduce_metrics(logging_outputs, criterion)
        if criterion.training:
            self._loss += summed(logging_outputs, "loss")
            self._masked += summed(logging_outputs, "sample_size")
            self._tokens += summed(logging_outputs, "ntokens")

    def kept_as(self, update: int) -> str | None:
        return weights_name(update) if update in self._kept else None

    def checkpoint(self) -> dict[str, Any]:
        seconds = time.perf_counter() - self._started
        stretch = {"loss": self._loss, "masked": self._masked, "tokens": self._tokens, "seconds": seconds}
        return {**super().checkpoint(), "stretch": stretch}

    def set_checkpoint_dict(self, state: Mapping[str, Any]) -> None:
        super().set_checkpoint_dict(state)
        stretch = state["stretch"]
        self._loss, self._masked, self._tokens = (stretch[key] for key in ("loss", "masked", "tokens"))
        self._started = time.perf_counter() - stretch["seconds"]

    def post_save(self, checkpoint: str, updates: int) -> None:
        """Name a checkpoint at an epoch's end by its update too, and remove the oldest: fairseq counts the two kinds
        separately."""
        folder = Path(checkpoint).parent
        name_by_update(folder)
        for old in list(checkpoints(folder))[self.cfg.keep_checkpoints :]:
            old.unlink()

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """Note the training's time, and have a checkpoint follow."""
        super().begin_valid_epoch(epoch, model)
        interruption.save_where_an_epoch_ends(True)
        self._seconds = time.perf_counter() - self._started

    def post_validate(self, model: Any, stats: dict[str, Any], agg: Any) -> None:
        """Record the training since the last validation, and the validation loss, which must be finite."""
        require_finite(float(agg["loss"].avg))
        if not self._tokens:
            # No update was made since, and its entry is in the record.
            return
        self.record(
            {
                "updates": position.update,
                "learning_rate": self._rate,
                "train_loss": self._loss / self._masked / math.log(2),
                "valid_loss": agg["loss"].avg,
                "gradient_norm": metrics.get_meter("train", "gnorm").val,
                "tokens_per_second": self._tokens / self._seconds,
                "seconds": self._seconds,
                "parameters": sum(p.numel() for p in model.parameters()),
            }
        )
        self._start()

    def _start(self) -> None:
        self._loss = self._masked = self._tokens = 0.0
        self._started = time.perf_counter()
        self._seconds = 0.0
