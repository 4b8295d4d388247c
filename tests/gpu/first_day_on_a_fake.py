"""The parts of the first day with a GPU that time training steps, gone through on a fake GPU with tiny models.

`python -m tests.gpu.first_day_on_a_fake LIBRARY OUT` takes the library of `benchmarks.fake_gpu`, and writes into OUT
what the parts find. Their numbers say nothing: there is no time on a fake GPU. Each side is in this process. Profiles
cannot be taken so: PyTorch without CUDA has no profiler of it.
"""

from __future__ import annotations

import copy
import os
import sys
import time
from pathlib import Path
from typing import Any, Self
from unittest import mock

from benchmarks import fake_gpu

SIZES = ("tiny", "bert-tiny")


def main(library: str, out: str) -> None:
    """Go through the parts."""
    os.environ["OMP_NUM_THREADS"] = "1"
    fake_gpu.load(Path(library))
    import torch
    from fairseq import tasks

    from benchmarks import gpu, training
    from benchmarks.samples import PAD, VOCABULARY, batches, dictionaries, masked_batches
    from preln.fairseq_plugin.batches import Noted
    from preln.records.files import write_json

    # Made on the CPU before the GPU is faked, for what is made then has no numbers.
    plain = {"tiny": batches("tiny", dictionaries(VOCABULARY["tiny"])), "bert-tiny": masked_batches("bert-tiny")}
    noted = {size: [Noted(dict, PAD)(copy.deepcopy(sample)) for sample in samples] for size, samples in plain.items()}

    class Here:
        """A side that works in this process."""

        def __init__(self, module: str, *arguments: Any) -> None:
            self._round = training.work(*arguments)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def round(self) -> float:
            started = time.perf_counter()
            units = self._round()
            return (time.perf_counter() - started) / units

    def with_notes(collate: Any, padding: int) -> Any:
        places = {
            id(sample): (size, number) for size, samples in plain.items() for number, sample in enumerate(samples)
        }

        def of(sample: Any) -> Any:
            size, number = places[id(sample)]
            return noted[size][number]

        return of

    set_up = tasks.setup_task

    def on_gpu(cfg: Any) -> Any:
        """A task that makes its model on the fake GPU, to which none can be moved."""
        task = set_up(cfg)
        build = task.build_model

        def build_there(model: Any) -> Any:
            with torch.device("cuda"):
                return build(model)

        task.build_model = build_there
        return task

    with (
        fake_gpu.fake_gpu(),
        mock.patch.object(tasks, "setup_task", on_gpu),
        mock.patch.multiple(gpu, Side=Here, ROUNDS={"cuda": 1}),
        mock.patch.multiple(
            training,
            Noted=with_notes,
            batches=lambda size, *rest: plain[size],
            masked_batches=lambda size: plain[size],
        ),
    ):
        for size in SIZES:
            write_json(Path(out) / f"speed-{size}.json", gpu.measure_speed("cuda", size))


if __name__ == "__main__":
    main(*sys.argv[1:])
