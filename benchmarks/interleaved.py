"""Sides that are timed in turn, each in a process with its own memory and threads."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Side:
    """A process that does a round of its work on request (`benchmarks.side`)."""

    def __init__(self, module: str, *arguments: str, threads: int = 1) -> None:
        self.name = ", ".join(arguments)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.side", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("CI") else subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        )

    def round(self) -> float:
        """The seconds that one unit of the work took, in one more round."""
        self.ask()
        return self.answer()

    def ask(self) -> None:
        """Have it do a round."""
        assert self._process.stdin
        self._process.stdin.write("round\n")
        self._process.stdin.flush()

    def answer(self) -> float:
        """The seconds that one unit of the work took, in the round that was asked for.

        Raises:
            RuntimeError: if the process ended.
        """
        assert self._process.stdout
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name}: the process ended; run `python -m benchmarks.side` to see why")
        return float(json.loads(answer))

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()


@dataclass(frozen=True)
class Ratio:
    """A side's speed relative to its baseline: the median, lowest and highest of the rounds."""

    median: float
    low: float
    high: float
    n: int
    seconds: float
    """The median time for a unit of the work."""


def ratios(baseline: Side, candidates: Sequence[Side], rounds: int) -> list[Ratio]:
    """Each candidate's speed relative to the baseline; in a round all sides work in turn."""
    sides = [baseline, *candidates]
    # The first round of each is not counted.
    for side in sides:
        side.round()
    times = [[side.round() for side in sides] for _ in range(rounds)]
    results = []
    for number in range(1, len(sides)):
        values = [row[0] / row[number] for row in times]
        seconds = statistics.median(row[number] for row in times)
        results.append(Ratio(statistics.median(values), min(values), max(values), rounds, seconds))
    return results
