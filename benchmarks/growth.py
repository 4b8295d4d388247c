"""Growth of a training step's cost with the size of the model and the sentences: exponents of power laws."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from benchmarks.interleaved import ROOT, Side
from preln.report.core.statistics import exponent

GROWING: dict[str, tuple[int, ...]] = {"depth": (2, 4, 8), "width": (64, 128, 256), "length": (16, 32, 64, 128)}
"""The dimensions that grow, and the sizes that are timed."""
RUNS = (10, 100, 1000)


def work(dimension: str, size: str, precision: str) -> Callable[[], int]:
    """A round of training steps at size A with one dimension changed."""
    from benchmarks import training

    value = int(size)
    if dimension == "length":
        return training.work("preln", "A", precision, length=value)
    model = {
        "depth": {"encoder_layers": value, "decoder_layers": value},
        "width": {"width": value, "ffn_width": 2 * value},
    }
    return training.work("preln", "A", precision, changes=model[dimension])


def exponents(rounds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The exponents of the seconds a token by what grows, and of a dry run's seconds by the number of runs."""
    for dimension, sizes in GROWING.items():
        with ExitStack() as running:
            sides = [running.enter_context(Side("growth", dimension, str(size), "fp32")) for size in sizes]
            # The first round of each is not counted.
            values = [exponent(sizes, [side.round() for side in sides]) for _ in range(1 + rounds)][1:]
        yield dimension, _summary(values)
    yield "runs", _summary([exponent(RUNS, [dry_run(runs) for runs in RUNS])])


def dry_run(runs: int) -> float:
    """Seconds of a dry run of a study of so many runs."""
    with tempfile.TemporaryDirectory() as temporary:
        study = Path(temporary) / "study.yaml"
        settings = {"corpus": "embedded", "placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt"}
        grid = {"figures": [2], "learning_rate": 1e-3, "warmup": 10, "seed": list(range(1, runs + 1))}
        content = {
            "study": "bench",
            "corpora": {"embedded": {"source": "embedded"}},
            "translation": {"settings": settings, "runs": [grid]},
        }
        study.write_text(yaml.safe_dump(content), encoding="utf-8")
        started = time.perf_counter()
        command = ["-m", "snakemake", "--cores", "2", "--dry-run", "--quiet", "all", "--configfile", str(study)]
        subprocess.run([sys.executable, *command], check=True, cwd=ROOT, capture_output=True)
        return time.perf_counter() - started


def _summary(values: list[float]) -> dict[str, Any]:
    rounded = {"ratio": statistics.median(values), "low": min(values), "high": max(values)}
    return {**{key: round(value, 3) for key, value in rounded.items()}, "n": len(values)}
