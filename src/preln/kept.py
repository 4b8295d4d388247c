"""The weights that a training keeps: seen to be whole before anything is computed from them, and trained again where
they are not."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from preln import run_state
from preln.config import Execution, Precision
from preln.errors import PrelnError
from preln.machine import claim

logger = logging.getLogger(__name__)


class WeightsLost(PrelnError):
    """Kept weights that are damaged or gone, and cannot be had again here."""


@dataclass(frozen=True)
class Kept:
    """Weights that a training keeps: the file in its state, the update after which they are kept, and how to train up
    to there: the precision, on what, and fairseq's options for a state's folder."""

    state: Path
    name: str
    update: int
    precision: Precision
    execution: Execution
    arguments: Callable[[Path], list[str]]

    @property
    def path(self) -> Path:
        """The file."""
        return self.state / self.name

    def require(self) -> Path:
        """The file, whole: weights that are damaged or gone are made again, by a training up to their update.

        Raises:
            WeightsLost: if they cannot be made again here.
        """
        from preln.fairseq_plugin.checkpoints import is_whole

        if is_whole(self.path):
            return self.path
        # Dropout is drawn otherwise by several processes, and on another kind of device.
        own = (1, bool(self.execution.gpus))
        kinds = {(attempt["workers"], bool(attempt["hardware"]["gpus"])) for attempt in run_state.of(self.state)}
        if kinds | {(self.execution.workers, own[1])} != {own}:
            raise WeightsLost(
                f"{self.path}: not there or damaged; this job, one process on a "
                f"{'GPU' if self.execution.gpus else 'CPU'}, would make other weights than the training, of several "
                "processes or on another kind of device; move "
                f"{self.state.parent.parent} away and train the run again"
            )
        with run_state.exclusive(self.state):
            self.mend()
        return self.path

    def mend(self) -> None:
        """Make weights again that are not whole; only the owner of the state may.

        Raises:
            WeightsLost: if the training diverges before them.
        """
        from preln.fairseq_plugin.checkpoints import copy_until, is_whole

        if is_whole(self.path):
            return
        claim(self.execution)
        # Importing fairseq takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin import launch

        logger.warning(
            "%s: not there or damaged; it is made again by a training up to update %d", self.path, self.update
        )
        # The state's name says of which run a checkpoint is.
        again = self.state / f"again-{self.update}" / self.state.name
        if not again.exists():
            again.mkdir(parents=True)
            copy_until(self.update, self.state, again)
        run_state.begin(again, self.execution)
        # They are kept before the first update that follows.
        until = ["--max-epoch", "0", "--max-update", str(self.update + 1), "--disable-validation"]
        launch.train([*self.arguments(again), *until], self.precision, again, self.execution)
        if not is_whole(again / self.name):
            raise WeightsLost(
                f"{again}: the training that was to make {self.name} again did not; move "
                f"{self.state.parent.parent} away and train the run again"
            )
        os.replace(again / self.name, self.path)
        shutil.rmtree(again.parent)
