"""Updates of language models by us, by `transformers` and by torch's own layers, on one thread.

The sides of a pair compute the same function with matrices of the same shapes: our Pre-LN with LayerNorm, GELU and
learned positions, beside GPT-2 and torch's layers; and our Pre-LN with RMSNorm, SwiGLU and RoPE, beside Llama. Ours are
the updates of a training, with drawing a batch and the norm of the gradient. Those of the others are bare: forward,
backward, and torch's AdamW, in bf16 by `torch.autocast`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from preln.config.language import LanguageSettings
from preln.export.language import model_of
from preln.fused import memory
from preln.language.text import TokenText
from preln.language.trainer import Trainer, loss_of

SIZES: dict[str, dict[str, int]] = {
    "64": {"width": 64, "ffn_width": 256, "heads": 4, "sequence_length": 64, "batch_sequences": 8},
    "512": {"width": 512, "ffn_width": 2048, "heads": 8, "sequence_length": 128, "batch_sequences": 4},
}
"""The sizes by width: that of the bench of language models, and a larger one; both have 6 layers."""
VOCABULARY = {"64": 4000, "512": 10_000}
STEPS = {"64": 8, "512": 1}
"""The updates of a round."""
PRECISIONS = ("fp32", "bf16")
PLAIN: dict[str, Any] = {}
GATED: dict[str, Any] = {"norm": "rms", "positions": "rope", "feed_forward": "swiglu"}
TOOLKITS = {"gpt2": PLAIN, "torch-layers": PLAIN, "llama": GATED}
"""The others by name, and our settings beside each."""


def work(side: str, toolkit: str, width: str, precision: str) -> Callable[[], int]:
    """A round of updates; its units are tokens.

    Args:
        side: `theirs`, or `ours` beside them.
        toolkit: a name of `TOOLKITS`.
        width: a name of `SIZES`.
        precision: `fp32` or `bf16`.
    """
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    settings = LanguageSettings.model_validate(
        {
            **{"text": "random", "placement": "pre", "layers": 6, "tied": False, "precision": precision},
            **{"learning_rate": 1e-3, "updates": 1_000_000, "validate_every": 1_000_000},
            **SIZES[width],
            **TOOLKITS[toolkit],
        }
    )
    tokens = np.random.default_rng(1).integers(VOCABULARY[width], size=100_000).astype("uint16")
    trainer = Trainer(settings, TokenText(tokens, tokens, VOCABULARY[width], np.bincount(tokens)))
    if side == "ours":
        memory.keep()
        return _rounds(trainer.update, width, settings)
    if toolkit == "torch-layers":
        model: Any = _TorchLayers(settings, VOCABULARY[width])
    else:
        model = model_of(settings, trainer.model.state_dict()).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    ((given, targets),) = trainer.batches(1)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = model(given) if toolkit == "torch-layers" else model(input_ids=given, use_cache=False).logits
        loss_of(logits.float(), targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return _rounds(step, width, settings)


def _rounds(step: Callable[[], object], width: str, settings: LanguageSettings) -> Callable[[], int]:
    def do_round() -> int:
        for _ in range(STEPS[width]):
            step()
        return STEPS[width] * settings.tokens_an_update

    return do_round


class _TorchLayers(nn.Module):
    """torch.nn.TransformerEncoder with a causal mask, embeddings and learned positions."""

    def __init__(self, settings: LanguageSettings, vocabulary: int) -> None:
        super().__init__()
        width, length = settings.width, settings.sequence_length
        self.embedding, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        options: dict[str, Any] = {"activation": "gelu", "batch_first": True, "norm_first": True}
        layer = nn.TransformerEncoderLayer(width, settings.heads, settings.ffn_width, 0.0, **options)
        self.layers = nn.TransformerEncoder(layer, settings.layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.output = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.positions.weight
        logits: Tensor = self.output(self.layers(x, mask=self.mask, is_causal=True))
        return logits
