"""The first ten minutes on a GPU: what no machine without one can say of packed batches and CUDA graphs.

`benchmarks.gpu` runs these parts first. The kernels of attention must write every row of packed sentences, empty ones
among them; updates by graphs must be those without; and the updates a second of several processes say whether graphs
gain anything for runs that share a GPU.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from benchmarks.interleaved import Side
from benchmarks.samples import SIZES, VOCABULARY, batches, dictionaries
from benchmarks.training import packed_rounds
from preln.fused.attention import Packed, attend

TYPES = {"bf16": (torch.bfloat16, 5e-2), "fp16": (torch.float16, 5e-3), "fp32": (torch.float32, 1e-4)}
"""The types by precision, and how far an element may lie from that of a CPU in double precision."""
QUERIES, KEYS = (7, 0, 130, 1, 40, 24, 0), (9, 0, 64, 3, 25, 24, 0)
"""Tokens of packed sentences; two are empty."""
LONGEST, HEADS, HEAD = 200, 4, 64
UPDATES, NEAR = 12, 1e-2
"""The updates that are compared, and how far a loss may lie from that without graphs, relatively."""
PROCESSES = {"cuda": (1, 4, 9, 12), "cpu": (2,)}
ROUNDS = {"cuda": 150, "cpu": 2}


def compare_attention(device: str, precisions: tuple[str, ...]) -> dict[str, Any]:
    """The largest differences of attention over packed sentences, and of its gradients, from those of a CPU.

    Raises:
        RuntimeError: if a difference is too large, or a number is not finite.
    """
    worst = {}
    for precision in precisions:
        kind, tolerance = TYPES[precision]
        for name, keys, causal in (("self", QUERIES, True), ("cross", KEYS, False)):
            inputs = [torch.randn(sum(QUERIES), (3 if causal else 1) * HEADS * HEAD)]
            inputs += [] if causal else [torch.randn(sum(keys), 2 * HEADS * HEAD)]
            inputs = [x.to(kind) for x in inputs]
            results = [
                _attended([x.to(*place).requires_grad_() for x in inputs], keys, causal)
                for place in ((device, kind), ("cpu", torch.double))
            ]
            pairs = zip(*results, strict=True)
            differences = [float((ours.cpu().double() - theirs).abs().max()) for ours, theirs in pairs]
            worst[f"{name}, {precision}"] = max(differences)
            if not all(difference <= tolerance for difference in differences):
                raise RuntimeError(f"attention over packed sentences ({name}, {precision}) differs: {differences}")
    return worst


def _attended(inputs: list[Tensor], keys: tuple[int, ...], causal: bool) -> list[Tensor]:
    """Attention and its gradients, in memory that held no numbers before."""
    device = inputs[0].device
    # Freed memory is used again: a row that no kernel writes is not a number.
    unwritten = [torch.full((2**18,), torch.nan, device=device) for _ in range(50)]
    unwritten.clear()
    queries, attended_to = (
        Packed(torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device), LONGEST)
        for lengths in (QUERIES, keys)
    )
    of_source = None if causal else inputs[1]
    heads = attend(inputs[0], of_source, queries, attended_to, HEADS, causal, 0.0)
    return [heads.detach(), *torch.autograd.grad(heads.square().sum(), inputs)]


def compare_updates(device: str, size: str, precisions: tuple[str, ...]) -> dict[str, Any]:
    """The losses of updates with dropout, by graphs and without.

    Raises:
        RuntimeError: if they differ.
    """
    losses: dict[str, Any] = {}
    for precision in precisions:
        both = []
        for by_graphs in (True, False):
            trainer, samples = packed_rounds(size, precision, device, by_graphs)
            logs = [trainer.train_step([samples[update % len(samples)]]) for update in range(UPDATES)]
            # An update that overflows in fp16 has no log.
            both.append([float(log["loss"]) if log else None for log in logs])
        losses[precision] = dict(zip(("graphs", "eager"), both, strict=True))
        for ours, theirs in zip(*both, strict=True):
            if (ours is None) != (theirs is None) or (ours and abs(ours - theirs) > NEAR * theirs):
                raise RuntimeError(f"updates by graphs differ in {precision}: {losses[precision]}")
    return losses


def time_sharing(device: str, size: str, precision: str) -> dict[str, Any]:
    """Updates a second of all processes together, by their number, with graphs and without."""
    samples = batches(size, dictionaries(VOCABULARY[size]))
    tokens = sum(sample["ntokens"] for sample in samples) / len(samples)
    speeds: dict[str, Any] = {}
    for toolkit in ("preln", "graphs"):
        for count in PROCESSES[device]:
            with ExitStack() as until:
                sides = [until.enter_context(Side("training", toolkit, size, precision, device)) for _ in range(count)]
                # In the first round graphs are recorded.
                for rounds in (1, ROUNDS[device]):
                    for side in sides:
                        for _ in range(rounds):
                            side.ask()
                    seconds = [statistics.median(side.answer() for _ in range(rounds)) for side in sides]
            speeds[f"{toolkit}, {count}"] = sum(1 / (each * tokens) for each in seconds)
    return {"batch_tokens": SIZES[size]["batch_tokens"], "updates_per_second": speeds}
