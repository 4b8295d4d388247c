"""CUDA graphs of a training's forward and backward passes, one for each capacity of its packed batches.

An update of a small model takes as long as Python needs to launch its thousand kernels one by one. A graph has them
recorded, and launches them at once. Only what is in a tensor can change from replay to replay: the batch, the weights,
the loss scale of fp16, and the state of the generator that dropout draws from.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from fairseq import utils
from torch import Tensor, nn

from preln.fairseq_plugin.masters import Copies
from preln.fairseq_plugin.packing import Capacity
from preln.training.graphs import distance

logger = logging.getLogger(__name__)

WARM_UPS = 3
"""Passes before a recording, in which libraries reserve their memory."""
TOLERANCE = 1e-2
"""The largest relative difference between a replay and the pass that was recorded. What may differ is the order in
which kernels add up: less than that in half precision. Another draw of dropout, an old loss scale or the lengths of
another batch differ by more."""
SEED = 1


class Recording:
    """A computation on a GPU, recorded as a graph.

    Attributes:
        results: the tensors that it returned, into which each replay writes.
    """

    def __init__(self, compute: Callable[[], list[Tensor]], pool: Any) -> None:
        """Record `compute`; graphs that are never replayed at the same time share a `pool` of memory."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UPS):
                compute()
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=pool):
            self.results = compute()

    def replay(self) -> None:
        self._graph.replay()


class Passes:
    """The forward and the backward pass of packed batches and the copy of their gradients, without waiting for the GPU.

    The gradients are added to buffers that stay where they are, so that batches of one update add up, in whichever
    capacities they are.
    """

    def __init__(self, model: nn.Module, criterion: Any, optimizer: Any, copies: Copies | None) -> None:
        self.criterion, self.model, self._copies = criterion, model, copies
        self._scaler = getattr(optimizer, "scaler", None)
        self._weights = [weight for weight in model.parameters() if weight.requires_grad]
        self._gradients = [torch.zeros_like(weight) for weight in self._weights]
        # The losses are in fp32 in every precision.
        self._scale = torch.ones((), device=self._weights[0].device)

    def prepare(self) -> None:
        """Take on the gradients of an update's earlier batches, or begin with zeros."""
        if self._copies is not None:
            self._copies.hand_over()
        gradients = [weight.grad for weight in self._weights if weight.grad is not None]
        if not gradients:
            torch._foreach_zero_(self._gradients)
        elif gradients[0] is self._gradients[0]:
            return
        else:
            torch._foreach_copy_(self._gradients, gradients)
        for weight, gradient in zip(self._weights, self._gradients, strict=True):
            weight.grad = gradient

    def read_scale(self) -> None:
        """Take the loss scale of fp16 from fairseq's optimizer, which changes it."""
        if self._scaler is not None:
            self._scale.fill_(self._scaler.loss_scale)

    def compute(self, batch: dict[str, Any]) -> list[Tensor]:
        """A batch's sums of the loss and of the negative log-likelihood; its gradient is added to the weights'."""
        loss, nll = self.criterion.sums(self.model, batch)
        scaled = loss if self._scaler is None else loss * self._scale
        # One kernel adds many gradients; autograd itself would launch one for each.
        torch._foreach_add_(self._gradients, torch.autograd.grad(scaled, self._weights))
        if self._copies is not None:
            self._copies.copy_gradients()
        return [loss.detach(), nll]

    def computed(self, compute: Callable[[], object], results: Callable[[], list[Tensor]]) -> list[Tensor]:
        """The results and the gradients of a pass that is made with the seed `SEED`, as copies."""
        # fp16's own loss scale, which begins high, may overflow.
        self._scale.fill_(1.0)
        self.prepare()
        torch._foreach_zero_(self._gradients)
        with utils.set_torch_seed(SEED):
            compute()
        return [value.clone() for value in (*results(), *self._gradients)]


class Graphs:
    """A training's graphs, by their capacities."""

    def __init__(self, passes: Passes, examples: Iterable[Sequence[dict[str, Any]]]) -> None:
        """Record a graph of the passes for each capacity, and hold its first replay against the passes themselves; a
        graph that differs is not used. `examples` has two batches of each capacity, which are on the GPU: the first is
        recorded, and the second replayed."""
        self._passes = passes
        self._graphs: dict[Capacity, tuple[Tensor, Recording]] = {}
        pool = torch.cuda.graph_pool_handle() if torch.cuda.is_available() else None
        weights = list(passes.model.parameters())
        gradients = [weight.grad for weight in weights]
        # The training's own draws begin afterwards, as without graphs.
        with utils.set_torch_seed(SEED):
            for recorded, replayed in examples:
                self._record(recorded, replayed, pool)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient

    def _record(self, example: dict[str, Any], another: dict[str, Any], pool: Any) -> None:
        static = {**example, "numbers": example["numbers"].clone()}
        passes, results = self._passes, list[Tensor]()

        def compute() -> list[Tensor]:
            results[:] = passes.compute(static)
            return list(results)

        passes.prepare()
        recording = Recording(compute, pool)
        static["numbers"].copy_(another["numbers"])
        eager = passes.computed(compute, lambda: results)
        replayed = passes.computed(recording.replay, lambda: recording.results)
        difference = max(distance(eager[:1], replayed[:1]), distance(eager[2:], replayed[2:]))
        capacity = example["capacity"]
        if difference <= TOLERANCE:
            self._graphs[capacity] = static["numbers"], recording
        else:
            logger.warning(
                "the graph for batches of %d + %d rows is not used: its first replay differs from the pass that it "
                "recorded by %.2g; these batches are computed without a graph",
                *capacity.rows,
                difference,
            )

    def hold(self, batch: dict[str, Any]) -> bool:
        """True if there is a graph for a batch, and no hook waits for modules to be called."""
        return batch.get("capacity") in self._graphs and not any(
            module._forward_hooks or module._forward_pre_hooks or module._backward_hooks
            for module in self._passes.model.modules()
        )

    def step(self, batch: dict[str, Any]) -> tuple[Tensor, int, dict[str, Any]]:
        """The forward and the backward pass of a batch, as fairseq's task returns them."""
        numbers, recording = self._graphs[batch["capacity"]]
        self._passes.prepare()
        self._passes.read_scale()
        numbers.copy_(batch["numbers"])
        recording.replay()
        # The next replay overwrites them.
        loss, nll = (value.clone() for value in recording.results)
        return loss, *self._passes.criterion.logged(batch, loss, nll)
