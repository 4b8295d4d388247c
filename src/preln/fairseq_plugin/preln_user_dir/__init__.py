"""What fairseq's `--user-dir` loads: importing the modules registers their parts by name."""

from preln.fairseq_plugin import bert, masked_lm, radam, schedule, sentence_prediction, transformer, translation

__all__ = ["bert", "masked_lm", "radam", "schedule", "sentence_prediction", "transformer", "translation"]
