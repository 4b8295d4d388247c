"""The checkpoint that a training goes on from: the newest one that is as it was written."""

from __future__ import annotations

import logging
import math
import pickle
import re
import zipfile
from argparse import Namespace
from pathlib import Path

import torch

from preln.errors import PrelnError

logger = logging.getLogger(__name__)


class CheckpointRefused(PrelnError):
    """A checkpoint that holds something other than numbers and settings."""


def allow_settings() -> None:
    """What fairseq puts in a checkpoint beside tensors and plain containers; anything else is refused."""
    torch.serialization.add_safe_globals([Namespace])


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint of the folder; a damaged one is passed over, which is logged.

    Raises:
        CheckpointRefused: if the newest whole one holds a foreign object.
    """
    allow_settings()
    for path in sorted(folder.glob("checkpoint*[0-9].pt"), key=_moment, reverse=True):
        try:
            _check(path)
            torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            return path
        except pickle.UnpicklingError as error:
            raise CheckpointRefused(
                f"{path}: refused, for it holds more than tensors and settings ({str(error).splitlines()[0]}). "
                "Move it away to continue from the checkpoint before it."
            ) from error
        except (RuntimeError, EOFError, OSError, ValueError, zipfile.BadZipFile) as error:
            logger.warning("%s is damaged (%s); trying the one before it", path, error)
    return None


def _moment(checkpoint: Path) -> tuple[float, ...]:
    """When a checkpoint was written, in an order: `checkpoint<epoch>.pt` at the end of the epoch, and
    `checkpoint_<epoch>_<update>.pt` before that."""
    epoch, *update = (int(number) for number in re.findall(r"\d+", checkpoint.stem))
    return (epoch, *update) if update else (epoch, math.inf)


def _check(checkpoint: Path) -> None:
    """See that a checkpoint is as it was written; torch does not look at the checksums that it writes.

    Raises:
        zipfile.BadZipFile: if it is not.
    """
    with zipfile.ZipFile(checkpoint) as archive:
        if (damaged := archive.testzip()) is not None:
            raise zipfile.BadZipFile(f"{damaged} in it differs from its checksum")
