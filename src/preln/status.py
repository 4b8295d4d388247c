"""How far a study is, read from its files alone, so also from another machine."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live

from preln.config import Study
from preln.pretraining import status as pretraining
from preln.progress import Section
from preln.theory import status as theory
from preln.translation import status as translation

WATCH_SECONDS = 5
FILE_WIDTH = 160


def sections(study: Study, results: Path, now: float) -> list[Section]:
    """How far the jobs of each kind are that the study has, at the time `now` in seconds since the epoch."""
    found = [
        *translation.sections(study, results, now),
        *theory.sections(study, results),
        *pretraining.sections(study, results, now),
    ]
    return [section for section in found if section.rows]


def show(study: Study, results: Path, watch: bool) -> None:
    """Print the progress of the study whose results are in the folder `results`; with `watch`, until interrupted."""

    def current() -> Group:
        return Group(*(section.table() for section in sections(study, results, time.time())))

    if not watch:
        # Into a file or a pipe goes the whole table, however wide.
        Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(current())
        return
    try:
        with Live(current(), refresh_per_second=1) as live:
            while True:
                time.sleep(WATCH_SECONDS)
                live.update(current())
    except KeyboardInterrupt:
        return
