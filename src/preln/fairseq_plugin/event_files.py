"""The event files from which TensorBoard shows a running training. fairseq itself writes them."""

from __future__ import annotations

from pathlib import Path

from preln import libraries
from preln.errors import PrelnError
from preln.fairseq_plugin.checkpoints import place_of
from preln.fairseq_plugin.options import EVENT_FILES

MEANS = "train"
"""The folder of event files with the means over each epoch."""


def prepare(state: Path, checkpoint: Path | None) -> None:
    """Purge from TensorBoard the values that the last attempt logged and the next one computes again, from an intact
    checkpoint, or from the beginning.

    Raises:
        PrelnError: if TensorBoard is not installed.
    """
    # TensorBoard is an optional extra.
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        reason = libraries.missing(error) or error
        raise PrelnError(f"execution.tensorboard: {reason}; or set it to false") from error
    updates, inside_epoch = place_of(checkpoint) if checkpoint else (0, False)
    # A training that is stopped inside an epoch logs, after its checkpoint, the means over the part of the epoch so
    # far; at the end of the epoch it logs those over the whole of it.
    for part in (state / EVENT_FILES).glob("*"):
        purge = updates if inside_epoch and part.name == MEANS else updates + 1
        SummaryWriter(str(part), purge_step=purge).close()
