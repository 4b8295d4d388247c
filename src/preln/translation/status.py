"""Progress of a translation run."""

from __future__ import annotations

from pathlib import Path

from preln.commands.progress import Counting, Progress, training
from preln.translation.curve import read_epochs
from preln.translation.runs import Run

EPOCHS = Counting("epochs", {"valid": "valid_loss", "BLEU": "test_bleu"}, read_epochs)


def progress(run: Run, folder: Path, now: float) -> Progress:
    """A run's progress at the time `now` in seconds since the epoch: training and validation losses in bits a token,
    test BLEU in percent. The run's folder is `folder`."""
    return training(run, run.settings.epochs, folder, now, EPOCHS)
