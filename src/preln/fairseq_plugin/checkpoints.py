"""The checkpoint that a training goes on from: the newest one that is as it was written; and the weights that a
training kept."""

from __future__ import annotations

import logging
import math
import pickle
import re
import shutil
import zipfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from preln.errors import PrelnError
from preln.records.files import flush, replaced
from preln.training.state import RunState

logger = logging.getLogger(__name__)

SET_ASIDE = "set-aside"
"""The folder in a state of the checkpoints that are no longer used."""
OF_STATE = "state"
"""The key under which kept weights, and what a checkpoint has of the task, have the name of the state's folder: it says
of what run, on what text, they are."""

WEIGHTS = "weights"
"""The key of kept weights in their file."""

_TRAINS_AGAIN = "and run the same command, which trains up to there again"
_NAME = re.compile(r"checkpoint(?:(?P<ended>\d+)|_(?P<epoch>\d+)_(?P<update>\d+))\.pt")
_FOREIGN = re.compile(r"GLOBAL (\S+)")


class CheckpointRefused(PrelnError):
    """A checkpoint, or kept weights, that are none of this run's."""


@dataclass(frozen=True, order=True)
class Moment:
    """When a checkpoint was written: in which epoch, and after which update; infinity at the end of the epoch."""

    epoch: int
    update: float

    @property
    def is_inside_epoch(self) -> bool:
        """Whether the epoch was not at its end."""
        return math.isfinite(self.update)

    @property
    def whole_epochs(self) -> int:
        """How many epochs were done."""
        return self.epoch - 1 if self.is_inside_epoch else self.epoch


def allow_settings() -> None:
    """What fairseq puts in a checkpoint beside tensors and plain containers; anything else is refused."""
    torch.serialization.add_safe_globals([Namespace])


def checkpoints(folder: Path) -> dict[Path, Moment]:
    """The checkpoints in a folder, the newest first: `checkpoint<epoch>.pt` is of the end of the epoch,
    `checkpoint_<epoch>_<update>.pt` of its midst, or named by its update."""
    found = {}
    for path in folder.glob("checkpoint*.pt"):
        if match := _NAME.fullmatch(path.name):
            ended = match["ended"]
            found[path] = Moment(int(ended), math.inf) if ended else Moment(int(match["epoch"]), int(match["update"]))
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint of a state's folder of checkpoints; a damaged one is passed over, which is logged.

    Raises:
        CheckpointRefused: if the newest whole one is not of the state's run, or holds a foreign object, or there is one
            that fairseq would prefer to all of ours.
    """
    if _exists(last := folder / "checkpoint_last.pt"):
        raise CheckpointRefused(f"{last}: refused, for no training here writes a checkpoint of this name; move it away")
    for path in checkpoints(folder):
        try:
            content = _content(path)
        except pickle.UnpicklingError as error:
            raise _holds_more(path, error, "to continue from the checkpoint before it") from None
        except MemoryError:
            raise
        # A damaged file can fail in any way, and all mean the same.
        except Exception as error:
            logger.warning("%s is damaged (%s); trying the one before it", path, error)
            continue
        if not _is_of(content, folder.parent.name):
            raise CheckpointRefused(
                f"{path}: refused, for it is none of this run's; move it away to continue from the checkpoint before it"
            )
        return path
    return None


def trained_weights(state: RunState) -> tuple[Moment, dict[str, Tensor]]:
    """The weights of a state's newest whole checkpoint, in fp32 and by their names, and when it was written.

    Raises:
        CheckpointRefused: if there is none, or as `newest_checkpoint`.
    """
    path = newest_checkpoint(state.checkpoints)
    if path is None:
        raise CheckpointRefused(f"{state.checkpoints}: has no checkpoint; train the run, or go on with it, first")
    weights = _content(path)["model"]
    return checkpoints(path.parent)[path], {
        name: value.float() if value.is_floating_point() else value.clone() for name, value in weights.items()
    }


def place_of(checkpoint: Path) -> tuple[int, bool]:
    """How many updates were done before a whole checkpoint, and whether it is inside an epoch, whatever its name."""
    content = _content(checkpoint)
    return _updates(content), content["extra_state"]["train_iterator"]["iterations_in_epoch"] > 0


def name_by_update(folder: Path) -> None:
    """Name the whole checkpoints of epochs' ends by their updates too: `checkpoint_<epoch>_<update>.pt`."""
    for path, moment in checkpoints(folder).items():
        if moment.is_inside_epoch:
            continue
        try:
            updates, _ = place_of(path)
        except Exception as error:
            logger.warning("%s is damaged (%s)", path, error)
            continue
        path.replace(path.with_name(f"checkpoint_{moment.epoch}_{updates}.pt"))


def set_aside_unrecorded(state: RunState, is_recorded: Callable[[Moment], bool]) -> bool:
    """Move away the checkpoints whose past is not in the state's record, so that it is trained again.

    Returns:
        Whether there were any.
    """
    unrecorded = [path for path, moment in checkpoints(state.checkpoints).items() if not is_recorded(moment)]
    for path in unrecorded:
        (state.folder / SET_ASIDE).mkdir(exist_ok=True)
        path.replace(state.folder / SET_ASIDE / path.name)
    return bool(unrecorded)


def flush_newest(state: RunState) -> None:
    """See that the newest checkpoint, which fairseq has written, is on the disk."""
    for path in list(checkpoints(state.checkpoints))[:1]:
        flush(path)
        flush(path.parent)


def copy_until(update: int, state: RunState, to: RunState) -> None:
    """Copy the newest checkpoint of a state that is no later than an update to another state, if there is one."""
    for path in checkpoints(state.checkpoints):
        try:
            content = _content(path)
        except Exception as error:
            logger.warning("%s: not used (%s)", path, error)
            continue
        if _is_of(content, state.name) and _updates(content) <= update:
            to.checkpoints.mkdir(parents=True)
            shutil.copyfile(path, to.checkpoints / path.name)
            return


def is_whole(weights: Path) -> bool:
    """Whether a file of kept weights is as it was written."""
    try:
        _check(weights)
    except MemoryError:
        raise
    except Exception:
        return False
    return True


def keep_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Keep weights, by their names, in a file of a state."""
    # Through a file of Python's, whose errors say what is wrong with the disk.
    with replaced(path) as partial, partial.open("wb") as file:
        torch.save({OF_STATE: path.parent.name, WEIGHTS: dict(weights)}, file)


def kept_weights(path: Path, device: torch.device | str = "cpu") -> dict[str, Tensor]:
    """The weights, by their names, of a file that `keep_weights` wrote.

    Raises:
        CheckpointRefused: if they are damaged, or not of this state.
    """
    if not is_whole(path):
        raise CheckpointRefused(f"{path}: refused, for it is damaged; move it away {_TRAINS_AGAIN}")
    try:
        content = torch.load(path, map_location=device, weights_only=True)
    except pickle.UnpicklingError as error:
        raise _holds_more(path, error, _TRAINS_AGAIN) from None
    if not isinstance(content, dict) or content.get(OF_STATE) != path.parent.name or WEIGHTS not in content:
        raise CheckpointRefused(f"{path}: refused, for it is none of this run's; move it away {_TRAINS_AGAIN}")
    found: dict[str, Tensor] = content[WEIGHTS]
    return found


def load_weights(model: Any, path: Path, device: torch.device | str = "cpu") -> None:
    """Give a model the weights of a file that a training kept.

    Raises:
        CheckpointRefused: if they are not such a model's, or as `kept_weights`.
    """
    weights = kept_weights(path, device)
    try:
        model.load_state_dict(weights, strict=True)
    # They may be of any type, or of a model of other names or shapes.
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        raise CheckpointRefused(
            f"{path}: refused, for it is not the weights of this run's model; move it away {_TRAINS_AGAIN}"
        ) from None


def _content(checkpoint: Path) -> dict[str, Any]:
    """What a checkpoint holds; its tensors are read when they are used.

    Raises:
        Exception: of any kind, if it is damaged.
        pickle.UnpicklingError: if it is whole and holds a foreign object.
    """
    allow_settings()
    _check(checkpoint)
    content: dict[str, Any] = torch.load(checkpoint, map_location="cpu", weights_only=True, mmap=True)
    return content


def _updates(content: dict[str, Any]) -> int:
    return int(content["optimizer_history"][-1]["num_updates"])


def _is_of(content: Any, state: str) -> bool:
    """Whether a checkpoint's content is of the state with this name."""
    found = content.get("extra_state") if isinstance(content, dict) else None
    of_tasks = found.values() if isinstance(found, dict) else ()
    return any(isinstance(of_task, dict) and of_task.get(OF_STATE) == state for of_task in of_tasks)


def _holds_more(path: Path, error: pickle.UnpicklingError, next_step: str) -> CheckpointRefused:
    """The refusal of a file with a foreign object; torch's own advises how to load it nevertheless."""
    found = _FOREIGN.search(str(error))
    what = f" ({found[1]})" if found else ""
    return CheckpointRefused(
        f"{path}: refused, for it holds more than tensors and settings{what}; move it away {next_step}"
    )


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _check(checkpoint: Path) -> None:
    """See that a checkpoint is as it was written; torch does not look at the checksums that it writes.

    Raises:
        zipfile.BadZipFile: if it is not.
        OSError: if it is no file; a device may never end.
    """
    if not checkpoint.is_file():
        raise OSError("it is no file")
    with zipfile.ZipFile(checkpoint) as archive:
        if (damaged := archive.testzip()) is not None:
            raise zipfile.BadZipFile(f"{damaged} in it differs from its checksum")
