"""Stopping a training of fairseq's by a signal (`preln.training.interruption`)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.util import register_after_fork
from typing import Any

from preln.training.interruption import SIGNALS, handled

NEVER = 10**9
"""An interval of updates or epochs longer than any training."""


@dataclass
class Interruption:
    """A request to stop this process, and the update after which its training stopped."""

    requested: bool = False
    stopped_after: int | None = None
    _configuration: Any = None

    def stop(self, update: int, validates: bool) -> None:
        """Have fairseq end the training after this `update`, with a checkpoint. The validation, for which there may be
        no time, is skipped unless the update `validates` anyway, as the record then needs it."""
        self.stopped_after = update
        cfg = self._configuration
        cfg.optimization.stop_time_hours = 1e-12
        if not validates:
            cfg.dataset.disable_validation = True
            # The checkpoint may be named by its update or by its epoch.
            cfg.checkpoint.save_interval_updates = 1
            cfg.checkpoint.save_interval = 1

    def save_where_an_epoch_ends(self, wanted: bool) -> None:
        """Switch checkpoints at the ends of epochs on or off, for a training whose checkpoints are by updates."""
        if self._configuration is not None:
            self._configuration.checkpoint.save_interval = 1 if wanted else NEVER

    @contextmanager
    def heeded(self, configuration: Any) -> Iterator[None]:
        """Handle the signals during a training with this configuration."""
        self.stopped_after, self._configuration = None, configuration
        try:
            with handled(self.request):
                yield
        finally:
            self.requested, self._configuration = False, None

    def request(self, number: int, frame: object) -> None:
        """Handle a signal to stop, also before the training begins."""
        self.requested = True


interruption = Interruption()


def _obey_the_training_alone(training_interruption: Interruption) -> None:
    """Make a collator ignore every signal to stop except the training's own. Called in the collator as it starts.

    Slurm, or a terminal, may signal all processes of a training, which still needs batches until its update is done.
    Python ends its children by SIGTERM and waits for them.
    """
    if training_interruption._configuration is None:
        # Not forked by a training.
        return
    signals = {*SIGNALS, signal.SIGINT}
    training = os.getppid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    def end_on_request() -> None:
        while signal.sigwaitinfo(signals).si_pid != training:
            pass
        os._exit(0)

    threading.Thread(target=end_on_request, daemon=True).start()


register_after_fork(interruption, _obey_the_training_alone)
