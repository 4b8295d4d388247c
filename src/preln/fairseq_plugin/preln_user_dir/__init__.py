"""What fairseq's `--user-dir` loads: importing the modules registers their parts by name."""

from preln.fairseq_plugin import radam, schedule, task, transformer

__all__ = ["radam", "schedule", "task", "transformer"]
