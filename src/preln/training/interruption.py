"""The signals that ask a training to stop: it ends after its update, with a checkpoint from which the next attempt
continues."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from preln.errors import PrelnError

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
"""Slurm sends one before a job's time limit, or when it is preempted or requeued."""


class Interrupted(PrelnError):
    """A training was asked to stop, and stopped with a checkpoint."""


@contextmanager
def handled(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Within it, `handler` takes the signals; afterwards those that had them before do."""
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
