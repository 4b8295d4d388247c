"""The cost of accumulation: an update on four batches of 1,024 tokens, relative to one on a single batch.

    python -m benchmarks.accumulation [A|B]

In turns, and by the process's own time, which other processes change little. With a ratio of 1, a batch costs what its
tokens cost.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import torch
from torch import Tensor

from benchmarks.samples import SIZES, VOCABULARY, batches, dictionaries
from benchmarks.training import translation_trainer
from preln.fused import memory

TOKENS, PARTS, ROUNDS = 4096, 4, 5


def in_parts(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """The batch in parts of as many sentences each."""
    return [_rows(batch, rows) for rows in torch.arange(len(batch["target"])).chunk(PARTS)]


def _rows(batch: dict[str, Any], rows: Tensor) -> dict[str, Any]:
    target = batch["target"][rows]
    # The collator's notes on the whole batch do not hold for its parts.
    tensors = {key: value for key, value in batch["net_input"].items() if isinstance(value, Tensor)}
    return {
        "net_input": {key: value[rows] for key, value in tensors.items()},
        "target": target,
        "nsentences": len(rows),
        # 1 is padding in fairseq's dictionaries.
        "ntokens": int(target.ne(1).sum()),
    }


def ratios(toolkit: str, size: str, precision: str) -> list[float]:
    """Each round's time for an update in parts, relative to one as a whole, in ascending order."""
    SIZES[size]["batch_tokens"] = TOKENS
    folder = dictionaries(VOCABULARY[size])
    whole = batches(size, folder)[0]
    parts = in_parts(whole)
    trainer = translation_trainer(toolkit, SIZES[size], precision, folder)

    def seconds(update: list[dict[str, Any]]) -> float:
        start = time.process_time()
        trainer.train_step(update)
        return time.process_time() - start

    values = []
    for _ in range(1 + ROUNDS):
        together = seconds([whole])
        values.append(seconds(parts) / together)
    # The first round warms up.
    return sorted(values[1:])


if __name__ == "__main__":
    torch.set_num_threads(1)
    memory.keep()
    for toolkit in ("stock", "preln"):
        for precision in ("fp32", "bf16"):
            low, *_, high = values = ratios(toolkit, (sys.argv[1:] or ["A"])[0], precision)
            print(f"{toolkit}, {precision}: {statistics.median(values):.2f} ({low:.2f} to {high:.2f})", flush=True)
