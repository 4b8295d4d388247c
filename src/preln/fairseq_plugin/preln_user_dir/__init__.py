"""What fairseq's `--user-dir` loads: importing the modules registers their parts by name."""

from preln.fairseq_plugin import adam, bert, losses, masked_lm, schedule, sentence_prediction, transformer, translation

__all__ = ["adam", "bert", "losses", "masked_lm", "schedule", "sentence_prediction", "transformer", "translation"]
