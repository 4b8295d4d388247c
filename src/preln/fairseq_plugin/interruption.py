"""How a training that is told to stop ends: after its update, with a checkpoint from which the next attempt goes on.

Slurm tells a job so before its time is over, when another job takes its place, and when it is requeued.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.util import register_after_fork
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
NEVER = 10**9
"""An interval of updates or epochs that no training is as long as."""


@dataclass
class Interruption:
    """Whether this process was told to stop, and the update after which its training did."""

    requested: bool = False
    stopped_after: int | None = None
    _configuration: Any = None

    def stop(self, update: int, validates: bool) -> None:
        """Have fairseq end the training after this `update`, with a checkpoint. Unless the update `validates` anyway,
        for the record needs that, it is without a validation, for which there may be no time."""
        self.stopped_after = update
        cfg = self._configuration
        cfg.optimization.stop_time_hours = 1e-12
        if not validates:
            cfg.dataset.disable_validation = True
            # The checkpoint's name is that of an update, or of an epoch.
            cfg.checkpoint.save_interval_updates = 1
            cfg.checkpoint.save_interval = 1

    def save_where_an_epoch_ends(self, wanted: bool) -> None:
        """Have fairseq write a checkpoint of an update that ends an epoch, which it does by the number of the epoch."""
        if self._configuration is not None:
            self._configuration.checkpoint.save_interval = 1 if wanted else NEVER

    @contextmanager
    def heeded(self, configuration: Any) -> Iterator[None]:
        """Heed the signals during a training with the configuration."""
        self.stopped_after, self._configuration = None, configuration
        before = {number: signal.signal(number, self.request) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self.requested, self._configuration = False, None

    def request(self, number: int, frame: object) -> None:
        """What a process does that is told to stop, also before its training begins."""
        self.requested = True


interruption = Interruption()


def _obey_the_training_alone(of_training: Interruption) -> None:
    """Make a collator deaf to every signal to stop but the training's own. It is called in the collator as it begins.

    Whoever tells a training to stop may tell all of its processes, as Slurm does, or a terminal. But the training still
    needs batches until its update is done. Python ends its children by SIGTERM, and waits for them.
    """
    if of_training._configuration is None:
        # Forked by something else than a training.
        return
    signals = {*SIGNALS, signal.SIGINT}
    training = os.getppid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    def end_if_told() -> None:
        while signal.sigwaitinfo(signals).si_pid != training:
            pass
        os._exit(0)

    threading.Thread(target=end_if_told, daemon=True).start()


register_after_fork(interruption, _obey_the_training_alone)
