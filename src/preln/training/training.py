"""Trainings, of any kind of model: they continue from their state, and keep weights, which are checked before use and
trained again where they are damaged."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.config import Execution, Precision
from preln.errors import PrelnError
from preln.records import recording
from preln.records.provenance import hardware
from preln.training.machine import claim
from preln.training.state import RunState, Unit

if TYPE_CHECKING:
    from torch import Tensor

    from preln.fairseq_plugin.checkpoints import Moment

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Training:
    """A training by fairseq, which continues from a state; `options` gives fairseq's options for the folder of a
    state."""

    state: RunState
    options: Callable[[Path], list[str]]
    precision: Precision
    execution: Execution

    def go_on(
        self,
        unit: Unit,
        done: Callable[[], int],
        needed: Callable[[Moment], float],
        kept: Iterable[KeptWeights],
        end: int | None = None,
    ) -> None:
        """Train to the end, or to a divergence, from the intact part of the state; the caller must own the state.

        Args:
            unit: the unit that the training counts in.
            done: returns how far the record is complete.
            needed: returns how far the record must be complete to continue from a checkpoint.
            kept: the weights that the training keeps.
            end: the number of units after which the training is over; None leaves that to fairseq.

        Raises:
            PrelnError: if the run cannot be trained on this machine, or cannot continue from its state.
        """
        claim(self.execution)
        self._mend(unit, done, needed)
        before = done()
        # Before the attempt is noted: one that is refused here computes nothing.
        for weights in kept:
            if weights.path.exists():
                weights.mend()
        is_done = self.state.divergence() is not None or (before == end and self._has_weights_of(end))
        if not is_done or not self.state.attempts():
            self.state.begin(self.execution, **{f"{unit}_before": before})
        if not is_done:
            recorded = self.state.entries()
            self._train(self.state)
            if not self.state.divergence() and self.state.entries() == recorded:
                self.state.take_back()

    def _has_weights_of(self, end: int) -> bool:
        """Tell whether the last checkpoint of a training of `end` updates could be written; where all were removed
        since, nothing is trained again."""
        from preln.fairseq_plugin.checkpoints import checkpoints

        written = checkpoints(self.state.checkpoints).values()
        return not written or end in {moment.update for moment in written}

    def make_again(self, weights: KeptWeights) -> None:
        """Train again, beside the state, up to the update of damaged weights, and replace them.

        Raises:
            PrelnError: if the training diverges before that update.
        """
        from preln.fairseq_plugin.checkpoints import copy_until, is_whole

        claim(self.execution)
        logger.warning(
            "%s: missing or damaged; training again up to update %d to replace it", weights.path, weights.update
        )
        # A checkpoint is accepted only in a state of its own name.
        again = RunState(self.state.folder / f"again-{weights.update}" / self.state.name)
        if not again.folder.exists():
            again.folder.mkdir(parents=True)
            copy_until(weights.update, self.state, again)
        again.begin(self.execution)
        # The weights are kept at the beginning of the next update.
        self._train(again, "--max-epoch", "0", "--max-update", str(weights.update + 1), "--disable-validation")
        if not is_whole(again.folder / weights.name):
            raise PrelnError(
                f"{again.folder}: training again did not reach {weights.name}; move {self.state.job} away and train "
                "the run again"
            )
        os.replace(again.folder / weights.name, weights.path)
        shutil.rmtree(again.folder.parent)

    def _mend(self, unit: Unit, done: Callable[[], int], needed: Callable[[Moment], float]) -> None:
        """Make the state consistent before the training continues.

        Keep the record's lines up to `done`, the checkpoints up to there, and the mark of a divergence if it matches
        the record. Quarantine the rest, which is trained again.
        """
        # Importing torch takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin.checkpoints import QUARANTINE, quarantine_unrecorded

        state = self.state
        has_damaged_lines = state.mend_lines()
        last = done()
        trained_again = quarantine_unrecorded(state, lambda moment: needed(moment) <= last)
        if trained_again:
            logger.warning(
                "%s: no record after %s %d: training again from the newest checkpoint before that or from the "
                "beginning; later checkpoints were moved to %s",
                state.folder,
                unit.removesuffix("s"),
                last,
                state.folder / QUARANTINE,
            )
        if trained_again or has_damaged_lines:
            state.shorten(unit, last)
        state.mend_mark()

    def _train(self, state: RunState, *more: str) -> None:
        # Importing fairseq takes seconds, which other commands should not wait for, and memory, which a process that
        # waits for a GPU should not hold.
        from preln.fairseq_plugin import launch

        launch.train([*self.options(state.folder), *more], self.precision, state, self.execution)


@dataclass(frozen=True)
class TrainedModel:
    """The newest model of a training: when its newest checkpoint was written, and its weights by name, in fp32."""

    training: Training
    moment: Moment
    weights: dict[str, Tensor]

    @classmethod
    def of(cls, training: Training, prepared: Path) -> TrainedModel:
        """The newest model of a training on the text in the folder `prepared`.

        Raises:
            PrelnError: if it has no weights on this machine, or was trained on another text.
        """
        from preln.fairseq_plugin.checkpoints import checkpoints, trained_weights

        state = training.state
        if state.folder.is_dir():
            if (diverged := state.divergence()) and not checkpoints(state.checkpoints):
                raise PrelnError(
                    f"{state.job.name}: diverged at update {diverged['update']}; there is no trained model"
                )
            return cls(training, *trained_weights(state))
        if any((state.job / "state").glob(f"*/{state.checkpoints.name}")):
            raise PrelnError(
                f"{prepared}: {state.job.name} was trained on another text; name that text with --prepared, or train "
                "the run again"
            )
        raise PrelnError(
            f"{state.job}: no weights on this machine (the run has not started here, or only its record is here); "
            "train the run first"
        )


@dataclass(frozen=True)
class KeptWeights:
    """Weights that a training keeps: the file's name in its state, and the update after which they are kept."""

    training: Training
    name: str
    update: int

    @property
    def path(self) -> Path:
        return self.training.state.folder / self.name

    def of_run(self) -> Path | None:
        """The intact file of a finished run; None if the run diverged before it.

        Raises:
            PrelnError: if the run ended before it, nothing is left of its training, or it is damaged or missing and
                cannot be trained again here.
        """
        if self.path.exists():
            return self.require()
        state = self.training.state
        metrics = recording.read_metrics(state.job)
        diverged = metrics["diverged"]
        # The update at which a run diverged was not made.
        completed = diverged["update"] - 1 if diverged else metrics["updates"]
        if diverged and completed < self.update:
            logger.warning("%s diverged before update %d, whose weights were requested", state.job.name, self.update)
            return None
        if state.folder.exists() and completed >= self.update:
            return self.require()
        raise PrelnError(
            f"{self.path} is missing: training writes it after update {self.update}, and the run has {completed}. If "
            f"that is enough, its state was deleted or has an older version: move {state.job} away and train the run "
            "again. If not, train the run for longer."
        )

    def require(self) -> Path:
        """The intact file; damaged or missing weights are trained again up to their update.

        Raises:
            PrelnError: if they cannot be trained again here.
        """
        from preln.fairseq_plugin.checkpoints import is_whole

        if is_whole(self.path):
            return self.path
        if self.training.execution.workers > 1:
            raise self._lost("one process")
        with self.training.state.exclusive():
            self.mend()
        return self.path

    def mend(self) -> None:
        """Train damaged weights again; the caller must own the state.

        Raises:
            PrelnError: if the result would differ, or the training diverges before that update.
        """
        from preln.fairseq_plugin.checkpoints import is_whole

        if is_whole(self.path):
            return
        state, execution = self.training.state, self.training.execution
        current = _dropout_source(
            {"workers": execution.workers, "graphs": execution.graphs, "hardware": hardware(execution)}
        )
        if {_dropout_source(attempt) for attempt in state.attempts()} - {current}:
            raise self._lost("one process" if execution.workers == 1 else f"{execution.workers} processes")
        self.training.make_again(self)

    def _lost(self, processes: str) -> PrelnError:
        """The error for a machine whose dropout masks would differ from the training's."""
        device = "GPU" if self.training.execution.gpus else "CPU"
        return PrelnError(
            f"{self.path}: missing or damaged, and this job, {processes} on a {device}, would train different weights: "
            "dropout masks depend on the number of processes, the kind of device, the compiled loops and graphs; move "
            f"{self.training.state.job} away and train the run again"
        )


def _dropout_source(attempt: dict[str, Any]) -> tuple[int, bool, bool, bool]:
    """The facts on which an attempt's dropout masks depend: processes, GPUs, compiled loops, and packed batches."""
    hardware = attempt["hardware"]
    gpus = bool(hardware["gpus"])
    # Older attempts do not record their loops; they are assumed to be compiled. Nor do they record graphs.
    loops = not gpus and hardware.get("loops") != "PyTorch"
    return attempt["workers"], gpus, loops, attempt.get("graphs", False)
