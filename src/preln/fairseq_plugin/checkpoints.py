"""The checkpoint from which a training continues, which is the newest intact one, and the weights that it kept."""

from __future__ import annotations

import logging
import math
import pickle
import re
import shutil
import zipfile
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from preln.errors import PrelnError
from preln.records.files import flush, replaced
from preln.training.state import RunState

logger = logging.getLogger(__name__)

QUARANTINE = "quarantine"
"""The folder in a state for checkpoints that are no longer used."""
STATE_KEY = "state"
"""The key in kept weights, and in a checkpoint's part for the task, of the name of the state's folder, which identifies
the run and its text."""

WEIGHTS = "weights"
"""The key of kept weights in their file."""

_TRAINS_AGAIN = "and run the same command, which trains up to there again"
_GOES_BACK = "to continue from the checkpoint before it"
_NAME = re.compile(r"checkpoint(?:(?P<ended>\d+)|_(?P<epoch>\d+)_(?P<update>\d+))\.pt")
_FOREIGN = re.compile(r"GLOBAL (\S+)")


class CheckpointRefused(PrelnError):
    """A checkpoint or kept weights are foreign or damaged."""


@dataclass(frozen=True, order=True)
class Moment:
    """The epoch and the update after which a checkpoint was written; the update is infinite at the end of an epoch."""

    epoch: int
    update: float

    @property
    def is_inside_epoch(self) -> bool:
        return math.isfinite(self.update)

    @property
    def whole_epochs(self) -> int:
        return self.epoch - 1 if self.is_inside_epoch else self.epoch


def allow_settings() -> None:
    """Allow torch to load a Namespace, in which fairseq stores its settings; other objects stay refused."""
    torch.serialization.add_safe_globals([Namespace])


def checkpoints(folder: Path) -> dict[Path, Moment]:
    """The checkpoints in a folder, newest first: `checkpoint<epoch>.pt` at the end of an epoch, and
    `checkpoint_<epoch>_<update>.pt` within it."""
    moments = {}
    for path in folder.glob("checkpoint*.pt"):
        if match := _NAME.fullmatch(path.name):
            ended = match["ended"]
            moments[path] = Moment(int(ended), math.inf) if ended else Moment(int(match["epoch"]), int(match["update"]))
    return dict(sorted(moments.items(), key=lambda item: item[1], reverse=True))


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest intact checkpoint in a state's folder of checkpoints. Damaged ones are skipped with a warning.

    Raises:
        CheckpointRefused: if the newest intact one belongs to another run or holds a foreign object.
    """
    for path in checkpoints(folder):
        try:
            content = _content(path)
        except pickle.UnpicklingError as error:
            raise _refused(path, _foreign_object(error), _GOES_BACK) from None
        except MemoryError:
            raise
        # A damaged file can raise any error.
        except Exception as error:
            logger.warning("%s is damaged (%s); trying the one before it", path, error)
            continue
        if not _is_of(content, folder.parent.name):
            raise _refused(path, "it belongs to another run", _GOES_BACK)
        return path
    return None


def trained_weights(state: RunState) -> tuple[Moment, dict[str, Tensor]]:
    """The weights in a state's newest intact checkpoint, in fp32 and by name, and when it was written.

    Raises:
        CheckpointRefused: if there is none, or as in `newest_checkpoint`.
    """
    path = newest_checkpoint(state.checkpoints)
    if path is None:
        raise CheckpointRefused(f"{state.checkpoints}: no checkpoint; train the run, or continue it, first")
    weights = _content(path)["model"]
    return checkpoints(path.parent)[path], {
        name: value.float() if value.is_floating_point() else value.clone() for name, value in weights.items()
    }


def place_of(checkpoint: Path) -> tuple[int, bool]:
    """The number of updates before an intact checkpoint, and whether it is inside an epoch, from its content."""
    content = _content(checkpoint)
    return _updates(content), content["extra_state"]["train_iterator"]["iterations_in_epoch"] > 0


def name_by_update(folder: Path) -> None:
    """Rename intact checkpoints at epochs' ends to `checkpoint_<epoch>_<update>.pt`."""
    for path, moment in checkpoints(folder).items():
        if moment.is_inside_epoch:
            continue
        try:
            updates, _ = place_of(path)
        except Exception as error:
            logger.warning("%s is damaged (%s)", path, error)
            continue
        path.replace(path.with_name(f"checkpoint_{moment.epoch}_{updates}.pt"))


def quarantine_unrecorded(state: RunState, is_recorded: Callable[[Moment], bool]) -> bool:
    """Quarantine checkpoints whose past is missing from the state's record, so that it is trained again.

    Returns:
        Whether there were any.
    """
    unrecorded = [path for path, moment in checkpoints(state.checkpoints).items() if not is_recorded(moment)]
    _quarantine(state, unrecorded)
    return bool(unrecorded)


def quarantine_damaged(state: RunState) -> Path | None:
    """Quarantine the damaged checkpoints that are newer than the newest intact one: fairseq, which keeps the newest by
    their names, would remove later ones in their place.

    Returns:
        The newest intact checkpoint.

    Raises:
        CheckpointRefused: as in `newest_checkpoint`.
    """
    newest = newest_checkpoint(state.checkpoints)
    _quarantine(state, list(takewhile(lambda path: path != newest, checkpoints(state.checkpoints))))
    return newest


def _quarantine(state: RunState, paths: Iterable[Path]) -> None:
    for path in paths:
        (state.folder / QUARANTINE).mkdir(exist_ok=True)
        path.replace(state.folder / QUARANTINE / path.name)


def flush_newest(state: RunState) -> None:
    """Flush the newest checkpoint, which fairseq has written, to the disk."""
    for path in list(checkpoints(state.checkpoints))[:1]:
        flush(path)
        flush(path.parent)


def copy_until(update: int, state: RunState, target: RunState) -> None:
    """Copy a state's newest checkpoint up to an update, if there is one, to another state."""
    for path in checkpoints(state.checkpoints):
        try:
            content = _content(path)
        except Exception as error:
            logger.warning("%s: not used (%s)", path, error)
            continue
        if _is_of(content, state.name) and _updates(content) <= update:
            target.checkpoints.mkdir(parents=True)
            shutil.copyfile(path, target.checkpoints / path.name)
            return


def is_whole(weights: Path) -> bool:
    """True if a file of kept weights is intact."""
    try:
        _check(weights)
    except MemoryError:
        raise
    except Exception:
        return False
    return True


def keep_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Write weights by name to a file in a state."""
    # Through a Python file, whose errors say what is wrong with the disk.
    with replaced(path) as partial, partial.open("wb") as file:
        torch.save({STATE_KEY: path.parent.name, WEIGHTS: dict(weights)}, file)


def kept_weights(path: Path, device: torch.device | str = "cpu") -> dict[str, Tensor]:
    """The weights by name from a file that `keep_weights` wrote.

    Raises:
        CheckpointRefused: if they are damaged or belong to another state.
    """
    if not is_whole(path):
        raise _refused(path, "it is damaged")
    try:
        content = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise _refused(path, _foreign_object(error)) from None
    if not isinstance(content, dict) or content.get(STATE_KEY) != path.parent.name or WEIGHTS not in content:
        raise _refused(path, "it belongs to another run")
    return content[WEIGHTS]


def load_weights(model: Any, path: Path, device: torch.device | str = "cpu") -> None:
    """Load `kept_weights` into a model, or refuse what does not fit it."""
    weights = kept_weights(path, device)
    try:
        model.load_state_dict(weights, strict=True)
    # The weights may be of any type, or have other names or shapes.
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        raise _refused(path, "it does not hold the weights of this run's model") from None


def _content(checkpoint: Path) -> dict[str, Any]:
    """A checkpoint's content; its tensors are read lazily.

    Raises:
        Exception: of any kind, if it is damaged.
        pickle.UnpicklingError: if it is whole and holds a foreign object.
    """
    allow_settings()
    _check(checkpoint)
    return torch.load(checkpoint, map_location="cpu", weights_only=True, mmap=True)


def _updates(content: dict[str, Any]) -> int:
    return int(content["optimizer_history"][-1]["num_updates"])


def _is_of(content: Any, state: str) -> bool:
    """True if a checkpoint's content belongs to the state with this name."""
    extra = content.get("extra_state") if isinstance(content, dict) else None
    entries = extra.values() if isinstance(extra, dict) else ()
    return any(isinstance(entry, dict) and entry.get(STATE_KEY) == state for entry in entries)


def _refused(path: Path, reason: str, next_step: str = _TRAINS_AGAIN) -> CheckpointRefused:
    return CheckpointRefused(f"{path}: refused: {reason}; move it away {next_step}")


def _foreign_object(error: pickle.UnpicklingError) -> str:
    """The reason to refuse a file; torch's own message explains how to load it nevertheless."""
    match = _FOREIGN.search(str(error))
    return f"it holds more than tensors and settings{f' ({match[1]})' if match else ''}"


def _check(checkpoint: Path) -> None:
    """Verify a checkpoint's checksums, which torch writes but does not read.

    Raises:
        zipfile.BadZipFile: if one differs.
        OSError: if it is not a regular file; reading a device may never end.
    """
    if not checkpoint.is_file():
        raise OSError("not a regular file")
    with zipfile.ZipFile(checkpoint) as archive:
        if (damaged := archive.testzip()) is not None:
            raise zipfile.BadZipFile(f"{damaged} in it differs from its checksum")
