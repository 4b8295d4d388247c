"""Training steps (forward, backward, update) by stock fairseq, by us, and by other toolkits.

All sides see the same batches of random tokens. The model is Post-LN, with dropout 0.1 and label smoothing 0.1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import tasks, utils
from fairseq.trainer import Trainer

from benchmarks import stock, toolkits
from benchmarks.samples import (
    BERT_SEQUENCES,
    BERT_VOCABULARY,
    BERTS,
    LANGUAGES,
    PAD,
    SIZES,
    VOCABULARY,
    batches,
    dictionaries,
    masked_batches,
    steps,
)
from preln.config import Execution, PretrainingSettings, RunSettings
from preln.fairseq_plugin import options
from preln.fairseq_plugin.batches import Noted
from preln.fairseq_plugin.launch import configuration, set_up_cuda
from preln.fused import memory


def work(
    toolkit: str,
    size: str,
    precision: str,
    device: str = "cpu",
    changes: dict[str, Any] | None = None,
    length: int | None = None,
) -> Callable[[], int]:
    """A round of training steps by a toolkit; its units are target tokens (masked language models: tokens).

    The model's settings can be changed, and the length of all sentences given.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if toolkit not in ("stock", "preln"):
        return toolkits.work(toolkit, size)
    if toolkit == "preln":
        memory.keep()
        set_up_cuda()
    do_round = rounds(toolkit, size, precision, Execution(gpus=int(device == "cuda")), changes, length)

    def until_the_end() -> int:
        units = do_round()
        if device == "cuda":
            torch.cuda.synchronize()
        return units

    return until_the_end


def rounds(
    toolkit: str,
    size: str,
    precision: Any,
    execution: Execution,
    changes: dict[str, Any] | None = None,
    length: int | None = None,
) -> Callable[[], int]:
    """A round of training steps, by fairseq's own model or ours, as `work` has them."""
    if size in BERTS:
        trainer, samples = masked_trainer(toolkit, size, precision, execution), masked_batches(size)
    else:
        folder = dictionaries(VOCABULARY[size])
        trainer = translation_trainer(toolkit, {**SIZES[size], **(changes or {})}, precision, folder, execution)
        samples = batches(size, folder, length)
    if toolkit == "preln":
        samples = [Noted(dict, PAD)(sample) for sample in samples]
    return steps(samples, lambda sample: trainer.train_step([sample]))


def translation_trainer(
    toolkit: str, model: dict[str, Any], precision: Any, folder: Path, execution: Execution | None = None
) -> Trainer:
    """fairseq's trainer of a translation model, its own or ours."""
    settings = RunSettings.model_validate(
        {
            **{"corpus": "any", "placement": "post", "optimizer": "adam", "learning_rate": 1e-3},
            **{"schedule": "constant", "precision": precision, **model},
        }
    )
    arguments = options.translation(settings, folder, folder, LANGUAGES, folder, execution or Execution())
    return _trainer(stock.options(arguments) if toolkit == "stock" else arguments, precision)


def _trainer(arguments: list[str], precision: Any) -> Trainer:
    cfg = configuration(arguments, precision)
    np.random.seed(cfg.common.seed)
    utils.set_torch_seed(cfg.common.seed)
    task = tasks.setup_task(cfg.task)
    return Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))


def masked_trainer(
    toolkit: str, size: str, precision: Any, execution: Execution, changes: dict[str, Any] | None = None
) -> Trainer:
    """fairseq's trainer of a BERT, its own or ours."""
    folder = dictionaries(BERT_VOCABULARY[size])
    settings = PretrainingSettings.model_validate(
        {
            "text": "any",
            "placement": "post",
            "learning_rate": 1e-4,
            "updates": 1000,
            "validate_every": 1000,
            "batch_sequences": BERT_SEQUENCES[size],
            "precision": precision,
            **BERTS[size],
            **(changes or {}),
        }
    )
    arguments = options.pretraining(settings, folder, folder, [], execution)
    return _trainer(stock.options(arguments) if toolkit == "stock" else arguments, precision)
