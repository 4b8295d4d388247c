"""The event files from which TensorBoard shows a training while it lasts. fairseq itself writes them."""

from __future__ import annotations

from pathlib import Path

EVENT_FILES = "tensorboard"
"""Their folder in a state."""


def forget_after(update: int, state: Path) -> None:
    """Have TensorBoard show nothing of what an attempt that ended did after an update, for it is done again; `state` is
    the folder of the training's state."""
    # It comes with an extra.
    from torch.utils.tensorboard import SummaryWriter

    for part in (state / EVENT_FILES).glob("*"):
        SummaryWriter(str(part), purge_step=update + 1).close()
