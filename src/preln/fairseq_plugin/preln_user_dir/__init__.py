"""The folder that fairseq's `--user-dir` loads: importing the modules registers their parts by name."""

from preln.fairseq_plugin import (
    bert,
    losses,
    masked_lm,
    optimizers,
    schedule,
    sentence_prediction,
    transformer,
    translation,
)

__all__ = ["bert", "losses", "masked_lm", "optimizers", "schedule", "sentence_prediction", "transformer", "translation"]
