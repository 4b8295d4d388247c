"""How far a study is, read from its files alone, so also from another machine."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from preln.attempts import ATTEMPTS
from preln.config import Study

SILENT_SECONDS = 600
"""A job that has written nothing for so long has stopped; translating an epoch's sets can take minutes."""
WATCH_SECONDS = 5
FILE_WIDTH = 160


@dataclass(frozen=True)
class Progress:
    """Where one job stands: how many epochs, updates or fine-tunings are `done` `of` all, its newest `scores` under the
    headings of its section, its speed in tokens a second, and the seconds that are `left` and that it is `silent`
    (since something was written last). None is not known, or no more of interest."""

    id: str
    state: str
    done: float
    of: int
    scores: dict[str, float | None] = field(default_factory=dict)
    speed: float | None = None
    left: float | None = None
    silent: float | None = None


@dataclass(frozen=True)
class Section:
    """The jobs of one kind: their name, what their progress is counted in, how, and the headings of their scores."""

    jobs: str
    unit: str
    digits: int
    headings: tuple[str, ...]
    rows: list[Progress]

    def table(self) -> Table:
        """The section as a table."""
        done = sum(row.state.startswith(("finished", "diverged", "not reached")) for row in self.rows)
        result = Table(title=f"{done} of {len(self.rows)} {self.jobs} done", title_justify="left", box=None)
        result.add_column("", no_wrap=True)
        result.add_column("state")
        for heading in (self.unit, *self.headings, "tokens/s", "left", "last news"):
            result.add_column(heading, justify="right", no_wrap=True)
        for row in self.rows:
            scores = (row.scores.get(heading) for heading in self.headings)
            result.add_row(
                row.id,
                row.state,
                f"{row.done:.{self.digits}f}/{row.of}",
                *("" if score is None else f"{score:.2f}" for score in scores),
                "" if row.speed is None else f"{row.speed:,.0f}",
                "" if row.left is None else str(timedelta(seconds=round(row.left))),
                "" if row.silent is None else f"{timedelta(seconds=round(row.silent))} ago",
            )
        return result


def newest_state(folder: Path) -> Path | None:
    """The state of a job's folder that was begun or continued last."""
    attempts = sorted(folder.glob(f"state/*/{ATTEMPTS}"), key=lambda path: path.stat().st_mtime)
    return attempts[-1].parent if attempts else None


def silence(state: Path, files: tuple[str, ...], now: float) -> float:
    """Seconds at the time `now` since one of the `files` of a state was written, or an attempt began."""
    paths = [state / name for name in (ATTEMPTS, *files)]
    return now - max(path.stat().st_mtime for path in paths if path.exists())


def outcome(metrics: dict[str, Any]) -> str:
    """How a training ended, by its metrics.json."""
    status: str = metrics["status"]
    return f"{status} at update {metrics['diverged']['update']}" if metrics["diverged"] else status


def show(study: Study, results: Path, watch: bool) -> None:
    """Print the progress of the study whose results are in the folder `results`; with `watch`, until interrupted."""
    from preln.pretraining import status as pretraining
    from preln.translation import status as translation

    def current() -> Group:
        now = time.time()
        sections = [*translation.sections(study, results, now), *pretraining.sections(study, results, now)]
        return Group(*(section.table() for section in sections if section.rows))

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
