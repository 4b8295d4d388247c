"""Training steps (forward, backward, update) by stock fairseq, by us, and by other toolkits.

All sides see the same batches of random tokens. The model is Post-LN, with dropout 0.1 and label smoothing 0.1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import tasks, utils
from fairseq.trainer import Trainer
from torch import Tensor

from benchmarks import stock, toolkits
from benchmarks.samples import (
    BERT_SEQUENCES,
    BERT_VOCABULARY,
    BERTS,
    LANGUAGES,
    PAD,
    RUN,
    SIZES,
    VOCABULARY,
    batches,
    dictionaries,
    masked_batches,
    steps,
)
from preln.config import Execution, PretrainingSettings, RunSettings
from preln.fairseq_plugin import graphs, options
from preln.fairseq_plugin.batches import Noted
from preln.fairseq_plugin.launch import configuration, set_up_cuda
from preln.fairseq_plugin.packing import capacities
from preln.fused import memory


def work(
    toolkit: str, size: str, precision: str, device: str = "cpu", changes: dict[str, Any] | None = None
) -> Callable[[], int]:
    """A round of training steps by a toolkit; its units are target tokens (masked language models: tokens).

    The toolkit `graphs` is ours with packed batches and CUDA graphs. For `stock` and `preln`, `changes` are of the
    model's settings.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if toolkit not in ("stock", "preln", "graphs"):
        return toolkits.work(toolkit, size)
    if toolkit != "stock":
        memory.keep()
        set_up_cuda()
    if toolkit == "graphs":
        trainer, samples = packed_rounds(size, precision, device, by_graphs=True)
        return _finished(steps(samples, lambda sample: trainer.train_step([sample])), device)
    return _finished(rounds(toolkit, size, precision, Execution(gpus=int(device == "cuda")), changes), device)


def _finished(do_round: Callable[[], int], device: str) -> Callable[[], int]:
    """A round that ends when the GPU has done its work."""

    def until_the_end() -> int:
        units = do_round()
        if device == "cuda":
            torch.cuda.synchronize()
        return units

    return until_the_end


def rounds(
    toolkit: str, size: str, precision: Any, execution: Execution, changes: dict[str, Any] | None = None
) -> Callable[[], int]:
    """A round of training steps, by fairseq's own model or ours, as `work` has them."""
    if size in BERTS:
        trainer, samples = masked_trainer(toolkit, size, precision, execution), masked_batches(size)
    else:
        folder = dictionaries(VOCABULARY[size])
        trainer = translation_trainer(toolkit, {**SIZES[size], **(changes or {})}, precision, folder, execution)
        samples = batches(size, folder)
    if toolkit == "preln":
        samples = [Noted(dict, PAD)(sample) for sample in samples]
    return steps(samples, lambda sample: trainer.train_step([sample]))


class Rerun:
    """The stand-in for a graph where there is no GPU: it computes again, with the tensors that it was recorded with."""

    def __init__(self, compute: Callable[[], list[Tensor]], pool: Any) -> None:
        self._compute, self.results = compute, compute()

    def replay(self) -> None:
        for kept, value in zip(self.results, self._compute(), strict=True):
            kept.copy_(value)


def packed_rounds(size: str, precision: Any, device: str, by_graphs: bool) -> tuple[Trainer, list[dict[str, Any]]]:
    """A trainer with dropout and its packed batches, whose passes are recorded as graphs or not."""
    folder, gpus = dictionaries(VOCABULARY[size]), int(device == "cuda")
    trainer = translation_trainer("preln", SIZES[size], precision, folder, Execution(gpus=gpus))
    padded = batches(size, folder)
    sides = [
        np.concatenate([tokens.ne(PAD).sum(1).numpy() for tokens in of_side])
        for of_side in zip(*((sample["net_input"]["src_tokens"], sample["target"]) for sample in padded), strict=True)
    ]
    ends = np.cumsum([0, *(len(sample["target"]) for sample in padded)])
    sizes = capacities([range(*span) for span in pairwise(ends.tolist())], (sides[0], sides[1]))
    samples = [Noted(dict, PAD, sizes)(sample) for sample in padded]
    examples = {sample["capacity"]: [sample, sample] for sample in samples} if by_graphs else {}
    both = list(examples.values())
    trainer.task.examples = lambda: utils.move_to_cuda(both) if gpus else both
    if not gpus:
        graphs.Recording = Rerun  # type: ignore[assignment,misc]
    return trainer, samples


def translation_trainer(
    toolkit: str, model: dict[str, Any], precision: Any, folder: Path, execution: Execution | None = None
) -> Trainer:
    """fairseq's trainer of a translation model, its own or ours."""
    settings = RunSettings.model_validate({**RUN, "precision": precision, **model})
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
