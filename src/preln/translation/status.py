"""How far the translation runs of a study are."""

from __future__ import annotations

from pathlib import Path

from preln.commands.progress import Counting, Progress, Section, training
from preln.config import Study
from preln.jobs.runs import Run, expand
from preln.translation.curve import read_epochs

EPOCHS = Counting("epochs", {"valid": "valid_loss", "BLEU": "test_bleu"}, read_epochs)


def sections(study: Study, results: Path, now: float) -> list[Section]:
    """The translation runs' progress: losses of training and of valid in bits a token, BLEU of test in percent."""
    rows = [progress(run, results / run.folder, now) for run in expand(study)]
    return [Section(Run.kind, "runs", "epoch", 1, ("train", "valid", "BLEU"), rows)]


def progress(run: Run, folder: Path, now: float) -> Progress:
    """The progress of `run`, whose folder is `folder`, at the time `now` in seconds since the epoch."""
    return training(run, run.settings.epochs, folder, now, EPOCHS)
