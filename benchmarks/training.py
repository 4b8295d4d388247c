"""Steps of a training: forward, backward and the update, by fairseq as it comes, by us, and by other toolkits.

All sides see the same batches of random tokens, of the lengths that sentences of IWSLT14 have, with a vocabulary whose
words are as unequal as a language's. The model is Post-LN, with dropout 0.1 and label smoothing 0.1.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import tasks, utils
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.trainer import Trainer

from benchmarks import stock
from preln.config import Execution, PretrainingSettings, RunSettings
from preln.fairseq_plugin import options
from preln.fairseq_plugin.launch import configuration
from preln.fused import memory

SIZES: dict[str, dict[str, int]] = {
    "A": {"width": 128, "ffn_width": 256, "heads": 4, "batch_tokens": 2000},
    "B": {"width": 512, "ffn_width": 1024, "heads": 4, "batch_tokens": 4096},
}
"""A is a model for a laptop, B is the paper's for IWSLT14; both have 6+6 layers."""
VOCABULARY = {"A": 4000, "B": 10000}
BERT: dict[str, int] = {"layers": 4, "width": 256, "ffn_width": 1024, "heads": 4, "sequence_length": 128}
BERT_VOCABULARY, BERT_SEQUENCES = 8000, 16
BATCHES = {"A": 4, "B": 2}
_LANGUAGES = ("de", "en")


def work(
    toolkit: str, size: str, precision: str, changes: dict[str, int] | None = None, length: int | None = None
) -> Callable[[], int]:
    """A round of training steps by a toolkit; its units are target tokens (masked language models: tokens).

    The model's sizes can be changed, and the length of all sentences given.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if toolkit not in ("stock", "preln"):
        from benchmarks import toolkits

        return toolkits.work(toolkit, size)
    if toolkit == "preln":
        memory.keep()
    if size == "bert":
        return _masked(toolkit, precision)
    folder = dictionaries(VOCABULARY[size])
    trainer = translation_trainer(toolkit, {**SIZES[size], **(changes or {})}, precision, folder)
    return steps(batches(size, folder, length), lambda sample: trainer.train_step([sample]))


def steps(samples: list[dict[str, Any]], step: Callable[[dict[str, Any]], object]) -> Callable[[], int]:
    """A round of one step for each of the samples."""

    def do_round() -> int:
        for sample in samples:
            step(sample)
        return sum(sample["ntokens"] for sample in samples)

    return do_round


def dictionaries(size: int) -> Path:
    """A folder with fairseq's dictionaries of so many entries."""
    folder = Path(tempfile.mkdtemp(prefix="preln-bench-"))
    words = Dictionary()
    for number in range(size - words.nspecial):
        words.add_symbol(f"w{number}")
    for name in (*(f"dict.{language}" for language in _LANGUAGES), "dict"):
        words.save(str(folder / f"{name}.txt"))
    return folder


def translation_trainer(toolkit: str, model: dict[str, Any], precision: Any, folder: Path) -> Trainer:
    """fairseq's trainer of a translation model, its own or ours."""
    settings = RunSettings.model_validate(
        {
            **{"corpus": "any", "placement": "post", "optimizer": "adam", "learning_rate": 1e-3},
            **{"schedule": "constant", "precision": precision, **model},
        }
    )
    arguments = options.translation(settings, folder, folder, _LANGUAGES, folder, Execution())
    return _trainer(stock.options(arguments) if toolkit == "stock" else arguments, precision)


def batches(size: str, folder: Path, length: int | None = None) -> list[Any]:
    """Batches of sentences of about the same length, as fairseq makes them, or all of the given length."""
    words = Dictionary.load(str(folder / "dict.en.txt"))
    draw = np.random.default_rng(1)
    source = np.clip(draw.lognormal(3.1, 0.55, 3000), 4, 120).astype(int)
    target = np.clip(source * draw.normal(1, 0.15, 3000), 4, 130).astype(int)
    if length:
        source = target = np.full(3000, length - 1)
    share = 1 / np.arange(10, 10 + len(words) - words.nspecial)

    def sentences(lengths: Any) -> list[torch.Tensor]:
        drawn = (draw.choice(len(share), n, p=share / share.sum()) + words.nspecial for n in lengths)
        return [torch.from_numpy(np.append(tokens, words.eos())).long() for tokens in drawn]

    pairs = LanguagePairDataset(
        sentences(source), source + 1, words, sentences(target), target + 1, words, left_pad_source=True
    )
    np.random.seed(1)
    tokens = SIZES[size]["batch_tokens"]
    found = pairs.batch_by_size(pairs.ordered_indices(), max_tokens=tokens, required_batch_size_multiple=8)
    chosen = draw.permutation(len(found))[: BATCHES[size]]
    return [pairs.collater([pairs[i] for i in found[number]]) for number in chosen]


def _trainer(arguments: list[str], precision: Any) -> Trainer:
    cfg = configuration(arguments, precision)
    np.random.seed(cfg.common.seed)
    utils.set_torch_seed(cfg.common.seed)
    task = tasks.setup_task(cfg.task)
    return Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))


def _masked(toolkit: str, precision: Any) -> Callable[[], int]:
    """Steps of BERT on two batches of random tokens, of which 15% are masked."""
    folder = dictionaries(BERT_VOCABULARY)
    settings = PretrainingSettings.model_validate(
        {
            **{"text": "any", "placement": "post", "learning_rate": 1e-4, "updates": 1000, "validate_every": 1000},
            **{"batch_sequences": BERT_SEQUENCES, "precision": precision, **BERT},
        }
    )
    arguments = options.pretraining(settings, folder, folder, [], Execution())
    trainer = _trainer(stock.options(arguments) if toolkit == "stock" else arguments, precision)
    return steps(masked_batches(), lambda sample: trainer.train_step([sample]))


def masked_batches() -> list[dict[str, Any]]:
    """Two batches of random tokens."""
    generator, pad, mask = torch.Generator().manual_seed(1), 1, BERT_VOCABULARY - 1
    found = []
    for _ in range(2):
        shape = (BERT_SEQUENCES, BERT["sequence_length"])
        tokens = torch.randint(4, BERT_VOCABULARY - 1, shape, generator=generator)
        masked = torch.rand(shape, generator=generator) < 0.15
        found.append(
            {
                "net_input": {"src_tokens": tokens.masked_fill(masked, mask)},
                "target": tokens.masked_fill(~masked, pad),
                "ntokens": tokens.numel(),
                "nsentences": len(tokens),
            }
        )
    return found
