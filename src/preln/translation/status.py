"""Progress of a study's translation runs."""

from __future__ import annotations

from pathlib import Path

from preln.commands.progress import Counting, Progress, Section, training
from preln.config import Study
from preln.jobs.runs import Run, expand
from preln.translation.curve import read_epochs

EPOCHS = Counting("epochs", {"valid": "valid_loss", "BLEU": "test_bleu"}, read_epochs)


def sections(study: Study, results: Path, now: float) -> list[Section]:
    """The translation runs' progress: training and validation losses in bits a token, test BLEU in percent."""
    rows = [progress(run, results / run.folder, now) for run in expand(study)]
    return [Section(Run.kind, "runs", "epoch", 1, ("train", "valid", "BLEU"), rows)]


def progress(run: Run, folder: Path, now: float) -> Progress:
    """A run's progress at the time `now` in seconds since the epoch; the run's folder is `folder`."""
    return training(run, run.settings.epochs, folder, now, EPOCHS)
