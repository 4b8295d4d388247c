"""The common input of all toolkits' timed training steps: model sizes, batches of random tokens, and rounds of steps.

Sentences have IWSLT14's lengths and the word frequencies of a language.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary, LanguagePairDataset

SIZES: dict[str, dict[str, int]] = {
    "A": {"width": 128, "ffn_width": 256, "heads": 4, "batch_tokens": 2000},
    "B": {"width": 512, "ffn_width": 1024, "heads": 4, "batch_tokens": 4096},
    "base": {"width": 512, "ffn_width": 2048, "heads": 8, "batch_tokens": 8192},
    "tiny": {"width": 16, "ffn_width": 32, "heads": 2, "batch_tokens": 512, "encoder_layers": 1, "decoder_layers": 1},
}
"""A is a model for a laptop, B the paper's for IWSLT14, base the original Transformer; they have 6+6 layers."""
RUN = {"corpus": "any", "placement": "post", "optimizer": "adam", "learning_rate": 1e-3, "schedule": "constant"}
"""The settings of a run beside its model's size."""
VOCABULARY = {"A": 4000, "B": 10000, "base": 32000, "tiny": 500}
BATCHES = {"A": 4, "B": 2, "base": 4, "tiny": 2}
BERTS: dict[str, dict[str, int]] = {
    "bert": {"layers": 4, "width": 256, "ffn_width": 1024, "heads": 4, "sequence_length": 128},
    "bert-base": {"layers": 12, "width": 768, "ffn_width": 3072, "heads": 12, "sequence_length": 512},
    "bert-tiny": {"layers": 1, "width": 16, "ffn_width": 32, "heads": 2, "sequence_length": 16},
}
BERT_VOCABULARY = {"bert": 8000, "bert-base": 32000, "bert-tiny": 500}
BERT_SEQUENCES = {"bert": 16, "bert-base": 32, "bert-tiny": 4}
LANGUAGES = ("de", "en")
PAD = 1
"""Padding in fairseq's dictionaries."""


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
    for name in (*(f"dict.{language}" for language in LANGUAGES), "dict"):
        words.save(str(folder / f"{name}.txt"))
    return folder


def batches(size: str, folder: Path) -> list[Any]:
    """Batches of sentences of about the same length, as fairseq makes them."""
    words = Dictionary.load(str(folder / "dict.en.txt"))
    draw = np.random.default_rng(1)
    source = np.clip(draw.lognormal(3.1, 0.55, 3000), 4, 120).astype(int)
    target = np.clip(source * draw.normal(1, 0.15, 3000), 4, 130).astype(int)
    share = 1 / np.arange(10, 10 + len(words) - words.nspecial)

    def sentences(lengths: Any) -> list[torch.Tensor]:
        drawn = (draw.choice(len(share), n, p=share / share.sum()) + words.nspecial for n in lengths)
        return [torch.from_numpy(np.append(tokens, words.eos())).long() for tokens in drawn]

    pairs = LanguagePairDataset(
        sentences(source), source + 1, words, sentences(target), target + 1, words, left_pad_source=True
    )
    np.random.seed(1)
    tokens = SIZES[size]["batch_tokens"]
    rows = pairs.batch_by_size(pairs.ordered_indices(), max_tokens=tokens, required_batch_size_multiple=8)
    chosen = draw.permutation(len(rows))[: BATCHES[size]]
    return [pairs.collater([pairs[i] for i in rows[number]]) for number in chosen]


def masked_batches(size: str) -> list[dict[str, Any]]:
    """Two batches of random tokens, of which 15% are masked."""
    generator, pad, mask = torch.Generator().manual_seed(1), PAD, BERT_VOCABULARY[size] - 1
    samples = []
    for _ in range(2):
        shape = (BERT_SEQUENCES[size], BERTS[size]["sequence_length"])
        tokens = torch.randint(4, mask, shape, generator=generator)
        masked = torch.rand(shape, generator=generator) < 0.15
        samples.append(
            {
                "net_input": {"src_tokens": tokens.masked_fill(masked, mask)},
                "target": tokens.masked_fill(~masked, pad),
                "ntokens": tokens.numel(),
                "nsentences": len(tokens),
            }
        )
    return samples
