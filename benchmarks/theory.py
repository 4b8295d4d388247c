"""The cost of the theory's measurements, relative to the passes that they need, timed in turn in one process.

    python benchmarks/theory.py resources/corpora/embedded-<digest>

The argument is a folder of a prepared German-English corpus, as `snakemake` leaves it.

- gradients: all matrices and hidden states of a translation model, against forward and backward passes alone over
  the same mini-batches, which is the least that any way of measuring them needs; and against one backward pass for
  each matrix, which is how a hook for a single layer would be repeated.
- proofs: every quantity of a stack of the toy model, against a forward and a backward pass of it alone.

Each ratio is the median of several rounds; within a round both sides are timed one after the other.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from preln.config import Execution, RunSettings
from preln.fairseq_plugin.probe import Probe
from preln.theory import gradients, lemmas
from preln.theory.exact import ExactStack, sequence_loss
from preln.theory.measurements import Measurement

ROUNDS = 5
BATCHES = 4
MODEL = {
    "corpus": "any",
    "placement": "post",
    "optimizer": "adam",
    "learning_rate": 1e-3,
    "schedule": "constant",
    "width": 64,
    "ffn_width": 128,
    "batch_tokens": 1024,
}
BASE = Measurement("translation", "", "initial", "post", "", 6, 64, None, "", 1, "", 0.0)


def seconds(work: Callable[[], object]) -> float:
    """The time that `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ratio(name: str, work: Callable[[], object], least: Callable[[], object]) -> None:
    """Print how many times as long `work` takes as `least`."""
    work(), least()
    values = [seconds(work) / seconds(least) for _ in range(ROUNDS)]
    print(f"{name}: {statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})", flush=True)


def translation(prepared: Path) -> None:
    """The gradients of the translation model."""
    settings = RunSettings.model_validate(MODEL)
    probe = Probe(settings, prepared / "binary", prepared / "text", ("de", "en"), Execution())
    weights = [matrix.weight for matrix in probe.matrices()]

    def passes() -> None:
        for batch in probe.batches(BATCHES):
            torch.autograd.grad(probe.loss(batch), weights)

    def one_by_one() -> None:
        for batch in probe.batches(BATCHES):
            loss = probe.loss(batch)
            for weight in weights:
                torch.autograd.grad(loss, weight, retain_graph=True)

    ratio("gradients, against passes alone", lambda: list(gradients.measure(probe, BATCHES, BASE)), passes)
    ratio(f"one backward pass for each of {len(weights)} matrices, against one for all", one_by_one, passes)


def proofs(width: int, depth: int, length: int) -> None:
    """The quantities of the toy model."""
    generator = torch.Generator().manual_seed(1)

    def passes() -> None:
        model = ExactStack(width, depth, "pre", "encoder", generator)
        sequence = lemmas.InputSequence.draw(length, width, generator)
        output = torch.randn(lemmas.VOCABULARY, width, generator=generator) * width**-0.5
        loss = sequence_loss(model(sequence.vectors), sequence.labels, output)
        torch.autograd.grad(loss, [p for name, p in model.named_parameters() if "norm" not in name])

    def everything() -> None:
        result = lemmas.Pass.draw("encoder", "pre", width, depth, length, seed=1)
        list(result.hidden_states()), list(result.gradients())

    name = f"proofs, width {width}, depth {depth}, against one initialisation and passes alone"
    ratio(name, everything, passes)


if __name__ == "__main__":
    torch.set_num_threads(1)
    translation(Path(sys.argv[1]))
    proofs(width=128, depth=12, length=64)
    proofs(width=512, depth=12, length=64)
