"""The process of a side: `python -m benchmarks.side MODULE ARGUMENTS` does a round for each line that it reads.

The module's `work` takes the arguments and returns a function that does a round and returns its number of units.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time


def main(module: str, *arguments: str) -> None:
    """Answer each line of the standard input with the seconds that a unit of the work took."""
    # Redirect the libraries' output to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    do_round = importlib.import_module(f"benchmarks.{module}").work(*arguments)
    for _ in sys.stdin:
        started = time.perf_counter()
        units = do_round()
        answers.write(json.dumps((time.perf_counter() - started) / units) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
