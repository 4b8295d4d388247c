"""The event files from which TensorBoard shows a training while it lasts. fairseq itself writes them."""

from __future__ import annotations

import logging
from pathlib import Path

from preln import libraries
from preln.errors import PrelnError
from preln.fairseq_plugin.checkpoints import place_of
from preln.fairseq_plugin.options import EVENT_FILES

MEANS = "train"
"""The part of them with the means over each epoch."""

logger = logging.getLogger(__name__)


class EventFilesRefused(PrelnError):
    """Event files are asked for, and TensorBoard is not installed."""


def prepare(state: Path, checkpoint: Path | None, wanted: bool) -> None:
    """Have TensorBoard forget what the last attempt at a training logged and the next one computes again.

    Args:
        state: the folder of the training's state.
        checkpoint: the whole one from which it goes on; none at the beginning.
        wanted: whether the next attempt writes event files.

    Raises:
        EventFilesRefused: if they are wanted and TensorBoard is not installed.
    """
    parts = list((state / EVENT_FILES).glob("*"))
    if not parts and not wanted:
        return
    # It comes with an extra.
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        if wanted:
            what = libraries.missing(error) or error
            raise EventFilesRefused(f"execution.tensorboard: {what}; or set it to false") from error
        logger.warning("%s: stays as it is, for TensorBoard is not installed", state / EVENT_FILES)
        return
    updates, inside_epoch = place_of(checkpoint) if checkpoint else (0, False)
    # A training that is told to stop inside an epoch logs, after its checkpoint, the means over what of the epoch is
    # done. It logs those of the whole epoch at its end.
    for part in parts:
        purge = updates if inside_epoch and part.name == MEANS else updates + 1
        SummaryWriter(str(part), purge_step=purge).close()
