"""An update on several batches is the update on one batch with their sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.logging import metrics

from preln.config import Execution
from preln.fairseq_plugin import options
from tests.conftest import settings
from tests.models import trainer

pytestmark = pytest.mark.slow

UPDATES, PARTS = 5, 4


def in_parts(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """A batch in parts of as many sentences each, without the collator's notes, which are about the whole."""
    tensors = {key: value for key, value in batch["net_input"].items() if isinstance(value, torch.Tensor)}
    return [
        {
            "net_input": {key: value[rows] for key, value in tensors.items()},
            "target": batch["target"][rows],
            "nsentences": len(rows),
            # 1 is padding in fairseq's dictionaries.
            "ntokens": int(batch["target"][rows].ne(1).sum()),
        }
        for rows in torch.arange(len(batch["target"])).chunk(PARTS)
    ]


def train(prepared: Path, state: Path, precision: str, parts: bool) -> tuple[list[tuple[float, float]], torch.Tensor]:
    """The loss and the gradient's norm of each update, and the weights after the last one."""
    run = settings(dropout=0.0, precision=precision, schedule="constant", warmup=0, optimizer="sgd", learning_rate=0.1)
    arguments = options.translation(run, prepared / "binary", prepared / "text", ("de", "en"), state, Execution())
    training = trainer(arguments, precision)
    dataset = training.task.dataset("train")
    batches = training.task.get_batch_iterator(dataset, max_tokens=4096, seed=1, epoch=1).next_epoch_itr(shuffle=False)
    seen = []
    for _, batch in zip(range(UPDATES), batches, strict=False):
        update: list[dict[str, Any]] = in_parts(batch) if parts else [batch]
        with metrics.aggregate(new_root=True) as log:
            training.train_step(update)
        seen.append((float(log["loss"].val), float(log["gnorm"].val)))
    return seen, torch.cat([weight.detach().flatten() for weight in training.optimizer.params])


@pytest.mark.parametrize(("precision", "rounding"), [("fp32", 1e-5), ("bf16", 2e-2)])
def test_four_batches_are_one_with_their_sentences_to_rounding(
    precision: str, rounding: float, prepared: Path, tmp_path: Path
) -> None:
    seen, weights = train(prepared, tmp_path, precision, parts=True)
    expected, expected_weights = train(prepared, tmp_path, "fp32", parts=False)
    torch.testing.assert_close(torch.tensor(seen), torch.tensor(expected), rtol=rounding, atol=0)
    change = torch.linalg.vector_norm(weights - expected_weights) / torch.linalg.vector_norm(expected_weights)
    assert float(change) < rounding
