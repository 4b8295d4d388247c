"""Trainings that are faster than fairseq's have fairseq's numbers: whole trainings, side by side."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fairseq.logging import metrics
from fairseq.trainer import Trainer

from benchmarks import stock
from tests.conftest import settings
from tests.models import fairseq_names, options_of, trainer

pytestmark = [pytest.mark.numbers, pytest.mark.slow]

UPDATES = 50


def both(prepared: Path, state: Path, **changes: Any) -> tuple[Trainer, Trainer]:
    """fairseq's training and ours, with the same weights."""
    run = settings(encoder_layers=2, decoder_layers=2, dropout=0.0, schedule="constant", warmup=0, **changes)
    arguments = options_of(run, prepared, state)
    reference, placed = trainer(stock.options(arguments), "fp32"), trainer(arguments, "fp32")
    reference.get_model().load_state_dict(fairseq_names(placed.get_model().state_dict()), strict=True)
    return reference, placed


def train(training: Trainer, accumulate: int) -> list[tuple[float, float]]:
    """The loss and the gradient's norm of each update."""
    iterator = training.task.get_batch_iterator(training.task.dataset("train"), max_tokens=256, seed=1, epoch=1)
    batches = list(iterator.next_epoch_itr(shuffle=False))
    seen = []
    for update in range(UPDATES):
        start = update * accumulate
        samples = [batches[i % len(batches)] for i in range(start, start + accumulate)]
        with metrics.aggregate(new_root=True) as log:
            training.train_step(samples)
        seen.append((float(log["loss"].val), float(log["gnorm"].val)))
    return seen


@pytest.mark.parametrize(
    "changes",
    [
        {"placement": "post", "learning_rate": 1e-3},
        {"placement": "pre", "learning_rate": 3e-3},
        {"placement": "pre", "accumulate": 2, "clip_norm": 0.5, "weight_decay": 0.01},
        {"placement": "post", "optimizer": "sgd", "learning_rate": 0.05},
    ],
    ids=lambda changes: ", ".join(f"{key} {value}" for key, value in changes.items()),
)
def test_fifty_updates_are_fairseqs(changes: dict[str, Any], prepared: Path, tmp_path: Path) -> None:
    reference, placed = both(prepared, tmp_path, **changes)
    accumulate = changes.get("accumulate", 1)
    losses, norms = zip(*train(reference, accumulate), strict=True)
    our_losses, our_norms = zip(*train(placed, accumulate), strict=True)
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(our_losses, losses, rtol=1e-5)
    # A gradient jumps where rounding puts an input of ReLU on the other side of zero.
    np.testing.assert_allclose(our_norms, norms, rtol=1e-3)


def in_parts(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """A batch in four parts of as many sentences each, without the collator's notes, which are about the whole."""
    tensors = {key: value for key, value in batch["net_input"].items() if isinstance(value, torch.Tensor)}
    return [
        {
            "net_input": {key: value[rows] for key, value in tensors.items()},
            "target": batch["target"][rows],
            "nsentences": len(rows),
            # 1 is padding in fairseq's dictionaries.
            "ntokens": int(batch["target"][rows].ne(1).sum()),
        }
        for rows in torch.arange(len(batch["target"])).chunk(4)
    ]


def test_in_bf16_four_batches_are_one_with_their_sentences_to_rounding(prepared: Path, tmp_path: Path) -> None:
    seen, weights = [], []
    for precision in ("bf16", "fp32"):
        run = settings(
            dropout=0.0, precision=precision, schedule="constant", warmup=0, optimizer="sgd", learning_rate=0.1
        )
        training = trainer(options_of(run, prepared, tmp_path), precision)
        dataset = training.task.dataset("train")
        batches = training.task.get_batch_iterator(dataset, max_tokens=4096, seed=1, epoch=1)
        for _, batch in zip(range(5), batches.next_epoch_itr(shuffle=False), strict=False):
            with metrics.aggregate(new_root=True) as log:
                training.train_step(in_parts(batch) if precision == "bf16" else [batch])
            seen.append((float(log["loss"].val), float(log["gnorm"].val)))
        weights.append(torch.cat([weight.detach().flatten() for weight in training.optimizer.params]))
    torch.testing.assert_close(torch.tensor(seen[:5]), torch.tensor(seen[5:]), rtol=2e-2, atol=0)
    change = torch.linalg.vector_norm(weights[0] - weights[1]) / torch.linalg.vector_norm(weights[1])
    assert float(change) < 2e-2
