"""What the trainings of translation models and of BERT have in common: they go on from their state, and they keep
weights, which are seen to be whole before anything is computed from them and are made again where they are not."""

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


class WeightsLost(PrelnError):
    """Kept weights that are damaged or gone, and cannot be had again here."""


class WeightsMissing(PrelnError):
    """A run that did not come as far as the weights that are asked for, or of whose training nothing is left."""


@dataclass(frozen=True)
class Training:
    """A training that fairseq computes.

    Attributes:
        state: what it goes on from.
        options: fairseq's options of it, for the folder of a state.
        precision: of the run.
        execution: on what it is computed.
    """

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
        """Train to the end, or to a divergence, from what of the state is whole; only the owner of the state may.

        Args:
            unit: what the training counts in.
            done: up to where its record is whole.
            needed: up to where that must be, for a checkpoint to be gone on from.
            kept: the weights that it keeps.
            end: the number of units after which nothing is left to train; None lets fairseq find that out.

        Raises:
            PrelnError: if the run cannot be trained on this machine, or its state cannot be continued from.
        """
        claim(self.execution)
        self._mend(unit, done, needed)
        before = done()
        # An attempt that is refused is none: it computes nothing.
        for weights in kept:
            if weights.path.exists():
                weights.mend()
        is_done = self.state.divergence() is not None or before == end
        if not is_done or not self.state.attempts():
            self.state.begin(self.execution, **{f"{unit}_before": before})
        if not is_done:
            recorded = self.state.entries()
            self._train(self.state)
            if not self.state.divergence() and self.state.entries() == recorded:
                self.state.take_back()

    def make_again(self, weights: KeptWeights) -> None:
        """Train once more, beside the state, up to the update of weights that are not whole, and put them there.

        Raises:
            WeightsLost: if the training diverges before them.
        """
        from preln.fairseq_plugin.checkpoints import copy_until, is_whole

        claim(self.execution)
        logger.warning(
            "%s: not there or damaged; it is made again by a training up to update %d", weights.path, weights.update
        )
        # The state's name says of which run a checkpoint is.
        again = RunState(self.state.folder / f"again-{weights.update}" / self.state.name)
        if not again.folder.exists():
            again.folder.mkdir(parents=True)
            copy_until(weights.update, self.state, again)
        again.begin(self.execution)
        # They are kept before the first update that follows.
        self._train(again, "--max-epoch", "0", "--max-update", str(weights.update + 1), "--disable-validation")
        if not is_whole(again.folder / weights.name):
            raise WeightsLost(
                f"{again.folder}: the training that was to make {weights.name} again did not; move {self.state.job} "
                "away and train the run again"
            )
        os.replace(again.folder / weights.name, weights.path)
        shutil.rmtree(again.folder.parent)

    def _mend(self, unit: Unit, done: Callable[[], int], needed: Callable[[Moment], float]) -> None:
        """Make the state consistent before the training goes on.

        What is whole stays: of the record, the lines up to `done`; of the checkpoints, those that go no further; and
        the mark of a divergence if it is of this record. The rest is set aside, and trained again.
        """
        # Importing torch takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin.checkpoints import SET_ASIDE, set_aside_unrecorded

        state = self.state
        has_damaged_lines = state.mend_lines()
        last = done()
        trained_again = set_aside_unrecorded(state, lambda moment: needed(moment) <= last)
        if trained_again:
            logger.warning(
                "%s: has no record of what follows %s %d: it is trained again, from the newest checkpoint before that "
                "or from the beginning; the checkpoints that follow are in %s",
                *(state.folder, unit.removesuffix("s"), last, state.folder / SET_ASIDE),
            )
        if trained_again or has_damaged_lines:
            state.shorten(unit, last)
        state.mend_mark()

    def _train(self, state: RunState, *more: str) -> None:
        # Importing fairseq takes seconds, which the other commands should not wait for, and memory, which one that
        # waits for a GPU has no use for.
        from preln.fairseq_plugin import launch

        launch.train([*self.options(state.folder), *more], self.precision, state, self.execution)


@dataclass(frozen=True)
class TrainedModel:
    """What a training has come to.

    Attributes:
        training: the training.
        moment: of its newest checkpoint.
        weights: the model's there, in fp32 and by their names.
    """

    training: Training
    moment: Moment
    weights: dict[str, Tensor]

    @classmethod
    def of(cls, training: Training, prepared: Path) -> TrainedModel:
        """The newest model of a training on the text in the folder `prepared`.

        Raises:
            PrelnError: if it has no weights on this machine, or the text is another.
        """
        # Importing torch takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin.checkpoints import trained_weights

        state = training.state
        if state.folder.is_dir():
            return cls(training, *trained_weights(state))
        if any((state.job / "state").glob(f"*/{state.checkpoints.name}")):
            raise PrelnError(
                f"{prepared}: not the text that {state.job.name} was trained on; name that with --prepared, or train "
                "the run again"
            )
        raise PrelnError(
            f"{state.job}: has no weights on this machine (the run has not begun here, or is here as a record alone); "
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
        """The file."""
        return self.training.state.folder / self.name

    def of_run(self) -> Path | None:
        """The file, whole, of a run that is done; None if the run diverged before it.

        Raises:
            WeightsMissing: if the run did not come so far, or nothing is left of its training.
            WeightsLost: if they are damaged or gone, and cannot be made again here.
        """
        if self.path.exists():
            return self.require()
        state = self.training.state
        metrics = recording.read_metrics(state.job)
        diverged = metrics["diverged"]
        # The update at which a run diverged was not made.
        made = diverged["update"] - 1 if diverged else metrics["updates"]
        if diverged and made < self.update:
            logger.warning("%s diverged before update %d, whose weights are asked for", state.job.name, self.update)
            return None
        if state.folder.exists() and made >= self.update:
            return self.require()
        raise WeightsMissing(
            f"{self.path} is not there: training writes it after update {self.update}, and the run has {made}. If that "
            f"is enough, its state was deleted or is of an older version: move {state.job} away and train the run "
            "again. If not, let the run train for longer."
        )

    def require(self) -> Path:
        """The file, whole: weights that are damaged or gone are made again, by a training up to their update.

        Raises:
            WeightsLost: if they cannot be made again here.
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
        """Make the weights again if they are not whole; only the owner of the state may.

        Raises:
            WeightsLost: if they would be others, or the training diverges before them.
        """
        # Importing torch takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin.checkpoints import is_whole

        if is_whole(self.path):
            return
        state, execution = self.training.state, self.training.execution
        own = _as_drawn({"workers": execution.workers, "hardware": hardware(execution)})
        if {_as_drawn(attempt) for attempt in state.attempts()} - {own}:
            raise self._lost("one process" if execution.workers == 1 else f"{execution.workers} processes")
        self.training.make_again(self)

    def _lost(self, processes: str) -> WeightsLost:
        """What is said where dropout would be drawn otherwise than it was."""
        device = "GPU" if self.training.execution.gpus else "CPU"
        return WeightsLost(
            f"{self.path}: not there or damaged; this job, {processes} on a {device}, would make other weights than "
            "the training: dropout is drawn otherwise by another number of processes, on another kind of device, and "
            f"with or without the compiled loops; move {self.training.state.job} away and train the run again"
        )


def _as_drawn(attempt: dict[str, Any]) -> tuple[int, bool, bool]:
    """What of an attempt decides how dropout is drawn: its processes, and whether GPUs or compiled loops draw it."""
    on = attempt["hardware"]
    gpus = bool(on["gpus"])
    # An older attempt does not say whether it had the compiled loops; it is taken to have had them.
    return attempt["workers"], gpus, not gpus and on.get("loops") != "PyTorch"
