"""Train or continue a language model, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import json
import logging
import os
import pickle
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.config import Execution, Study
from preln.config.language import LanguageSettings
from preln.errors import PrelnError
from preln.language.runs import LanguageRun
from preln.language.text import TokenText
from preln.records.files import MANIFEST, replaced, require_stage
from preln.records.recording import checksums
from preln.training import prepared_text
from preln.training.interruption import Interrupted, handled
from preln.training.machine import claim
from preln.training.state import RunState
from preln.training.validations import recorded_updates, write_records

if TYPE_CHECKING:
    from torch import Tensor

    from preln.language.trainer import Trainer

RENDEZVOUS = "rendezvous"
"""The file in a state by which the processes of a training find each other."""

logger = logging.getLogger(__name__)


class CheckpointRefused(PrelnError):
    """A checkpoint belongs to another run, or holds more than tensors and numbers."""


def tokens_folder(prepared: Path, settings: LanguageSettings) -> Path:
    """The folder of the tokens of a run in that of its prepared text."""
    return prepared / f"tokens-{settings.tokens}"


def state_of(run: LanguageRun, prepared: Path, folder: Path) -> RunState:
    """A run's state in its folder; its name depends on the text and its tokens."""
    identity = {**run.identity, "text": checksums(prepared_text.record(prepared))}
    return RunState.of(identity, [tokens_folder(prepared, run.settings) / MANIFEST], folder)


def train_run(study: Study, run: LanguageRun, prepared: Path, folder: Path) -> None:
    """Train `run` on the prepared text, a folder with its tokens, and write its records to `folder`, whose state/ is
    always kept, and continued from.

    Raises:
        PrelnError: if the run cannot be trained on this machine, or cannot continue from its state.
        Interrupted: if the process was stopped by a signal.
    """
    text = TokenText.read(tokens_folder(prepared, run.settings))
    text.require(run.settings)
    claim(run.execution)
    state = state_of(run, prepared, folder)
    with state.exclusive():
        checkpoint, before = _mend(state, run.settings)
        is_done = state.divergence() is not None or before == run.settings.updates
        if not is_done or not state.attempts():
            state.begin(run.execution, updates_before=before)
        if not is_done:
            _launch(run, tokens_folder(prepared, run.settings), state, checkpoint)
            if not state.divergence() and recorded_updates(run.settings, state) < run.settings.updates:
                raise Interrupted(
                    f"{state.folder}: stopped on request, with a checkpoint; run the same command to continue"
                )
        write_records(study, run, prepared, state, unigram_baseline=text.unigram_baseline(run.settings))


def trained_weights(run: LanguageRun, prepared: Path, folder: Path) -> dict[str, Tensor]:
    """The weights of a finished run by name, from its folder and that of its prepared text.

    Raises:
        PrelnError: if they are not on this machine, or are damaged.
    """
    for stage in (prepared / "text", tokens_folder(prepared, run.settings)):
        require_stage(stage, is_used=lambda name: False)
    state = state_of(run, prepared, folder)
    path = state.checkpoints / f"checkpoint_{run.settings.updates}.pt"
    if not path.exists():
        raise PrelnError(
            f"{folder}: no weights of update {run.settings.updates:,} on this machine (the run has not ended here, or "
            "only its record is here); train the run first"
        )
    try:
        weights: dict[str, Tensor] = _content(path)["trainer"]["model"]
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError) as error:
        raise PrelnError(f"{path}: damaged ({error}); move it away, and train the run again") from None
    return weights


def work(
    rank: int, settings: LanguageSettings, tokens: Path, state: RunState, checkpoint: Path | None, execution: Execution
) -> None:
    """Train in this process, the one of number `rank`, to the end, to a divergence, or to a signal; the first process
    writes the record and the checkpoints."""
    import torch

    from preln.fused import memory
    from preln.language.trainer import Diverged, Trainer

    torch.set_num_threads(execution.cpus)
    memory.keep()
    device = f"cuda:{rank}" if execution.gpus else "cpu"
    if execution.workers > 1:
        rendezvous = f"file://{(state.folder / RENDEZVOUS).absolute()}"
        backend = "nccl" if execution.gpus else "gloo"
        torch.distributed.init_process_group(backend, rendezvous, rank=rank, world_size=execution.workers)
    trainer = Trainer(settings, TokenText.read(tokens), rank, execution.workers, device)
    interval: dict[str, float] = {"loss": 0.0, "updates": 0, "seconds": 0.0}
    if checkpoint is not None:
        content = _content(checkpoint)
        trainer.restore(content["trainer"])
        interval = content["interval"]
    if execution.graphs:
        trainer.compile()
    parameters = sum(weight.numel() for weight in trainer.model.parameters())
    with handled(lambda number, frame: setattr(trainer, "asked", True)):
        while trainer.done < settings.updates and not trainer.stop:
            started = time.monotonic()
            try:
                loss, norm = trainer.update()
                interval = {
                    "loss": interval["loss"] + loss,
                    "updates": interval["updates"] + 1,
                    "seconds": interval["seconds"] + time.monotonic() - started,
                }
                speed = interval["updates"] / interval["seconds"]
                if rank == 0 and trainer.done % execution.log_interval == 0:
                    _log(state, trainer.done, loss, speed, speed * settings.tokens_an_update)
                if trainer.done % settings.validate_every:
                    continue
                row = {
                    "updates": trainer.done,
                    "learning_rate": trainer.rate,
                    "train_loss": interval["loss"] / interval["updates"],
                    # Every process validates, so that all of them know of a divergence.
                    "valid_loss": trainer.validate(),
                    "gradient_norm": norm,
                    "tokens_per_second": speed * settings.tokens_an_update,
                    "seconds": interval["seconds"],
                    "parameters": parameters,
                }
                interval = {"loss": 0.0, "updates": 0, "seconds": 0.0}
                if rank == 0:
                    state.add(row)
                    _save(state, trainer, interval, execution.checkpoints)
            except Diverged as error:
                if rank == 0:
                    state.note_divergence(error.update, str(error))
                break
        if rank == 0 and trainer.stop:
            _save(state, trainer, interval, execution.checkpoints)
    if execution.workers > 1:
        torch.distributed.destroy_process_group()


def _launch(run: LanguageRun, tokens: Path, state: RunState, checkpoint: Path | None) -> None:
    """Train in this process, or in several others that are sent its signals."""
    arguments = (run.settings, tokens, state, checkpoint, run.execution)
    if run.execution.workers == 1:
        work(0, *arguments)
        return
    from torch.multiprocessing.spawn import start_processes

    (state.folder / RENDEZVOUS).unlink(missing_ok=True)
    context = start_processes(work, arguments, run.execution.workers, join=False, start_method="spawn")  # type: ignore[no-untyped-call]

    def forward(number: int, frame: object) -> None:
        for process in context.pids():
            # One of them may have ended.
            with suppress(ProcessLookupError):
                os.kill(process, number)

    with handled(forward):
        while not context.join():
            pass


def _log(state: RunState, update: int, loss: float, updates_a_second: float, tokens_a_second: float) -> None:
    """Append a line of progress to the state's log, in the form of fairseq's, which `preln status` reads."""
    values = {"epoch": 1, "update": 1, "loss": loss, "num_updates": update}
    with state.log.open("a", encoding="utf-8") as log:
        log.write(json.dumps({**values, "ups": updates_a_second, "wps": tokens_a_second}) + "\n")


def _mend(state: RunState, settings: LanguageSettings) -> tuple[Path | None, int]:
    """Make a state consistent: no damaged line, no mark that the record does not fit, and no line after the checkpoint
    that the training continues from.

    Returns:
        The newest intact checkpoint that the record reaches, and its update; of a finished or diverged training, the
        record's last.
    """
    state.mend_lines()
    state.mend_mark()
    last = recorded_updates(settings, state)
    checkpoints = _checkpoints(state)
    # The last updates are made again if their checkpoint could not be written, and not if all were removed since.
    has_weights = not checkpoints or settings.updates in checkpoints.values()
    if state.divergence() or (last == settings.updates and has_weights):
        return None, last
    for path, update in checkpoints.items():
        if update // settings.validate_every * settings.validate_every > last:
            continue
        try:
            content = _content(path)
        except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError) as error:
            logger.warning("%s is damaged (%s); trying the one before it", path, error)
            continue
        if content.get("state") != state.name:
            raise CheckpointRefused(f"{path}: refused: it belongs to another run; move it away")
        state.shorten("updates", update)
        return path, update
    state.shorten("updates", 0)
    return None, 0


def _checkpoints(state: RunState) -> dict[Path, int]:
    """The checkpoints of a state with their updates, the newest first."""
    updates = {path: int(path.stem.rpartition("_")[2]) for path in state.checkpoints.glob("checkpoint_*.pt")}
    return dict(sorted(updates.items(), key=lambda item: -item[1]))


def _content(path: Path) -> dict[str, Any]:
    """The content of a checkpoint whose checksums fit.

    Raises:
        zipfile.BadZipFile: if they do not; or another error of a damaged file.
        CheckpointRefused: if it holds more than tensors and numbers.
    """
    import torch

    with zipfile.ZipFile(path) as archive:
        if (damaged := archive.testzip()) is not None:
            raise zipfile.BadZipFile(f"{damaged} in it differs from its checksum")
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except pickle.UnpicklingError:
        raise CheckpointRefused(f"{path}: refused: it holds more than tensors and numbers; move it away") from None
    return content


def _save(state: RunState, trainer: Trainer, interval: dict[str, float], kept: int) -> None:
    """Write a checkpoint, and remove all but the newest `kept` ones."""
    import torch

    content = {"state": state.name, "trainer": trainer.state(), "interval": interval}
    # Through a Python file, whose errors say what is wrong with the disk.
    with replaced(state.checkpoints / f"checkpoint_{trainer.done}.pt") as partial, partial.open("wb") as file:
        torch.save(content, file)
    for path in list(_checkpoints(state))[kept:]:
        path.unlink()
