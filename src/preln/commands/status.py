"""A study's progress, read from its files only, so that it works from another machine."""

from __future__ import annotations

import math
import shlex
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from preln.commands.progress import Progress, Section, State, bar, seconds_left, spoken
from preln.config import Study
from preln.jobs import notes
from preln.jobs.kinds import KINDS, jobs_of

WATCH_SECONDS = 5
FILE_WIDTH = 160
WIDE = 120
"""Columns of a terminal that is wide enough for bars."""
ENDED_EARLY = (State.DIVERGED, State.NOT_REACHED)
"""States of jobs whose time does not predict that of other jobs."""


@dataclass(frozen=True)
class StudyProgress:
    """A study's progress: its name, and its jobs by kind."""

    study: str
    sections: tuple[Section, ...]

    @classmethod
    def read(cls, study: Study, results: Path, now: float) -> StudyProgress:
        """A study's progress from its results, at the time `now` in seconds since the epoch."""
        sections = [
            Section(kind, [kind.progress(job, results / job.folder, now) for job in kind.expand(study, "study")])
            for kind in KINDS.values()
        ]
        return cls(study.study, tuple(section for section in sections if section.rows))

    @property
    def jobs(self) -> list[Progress]:
        """The jobs of all kinds."""
        return [row for section in self.sections for row in section.rows]

    @property
    def done(self) -> int:
        """The number of finished jobs."""
        return sum(row.is_done for row in self.jobs)

    @property
    def at_once(self) -> int:
        """The number of running jobs, but at least one, to estimate the remaining time."""
        return max(sum(row.is_running for row in self.jobs), 1)

    @property
    def left(self) -> float | None:
        """About how many seconds the remaining jobs take, if as many run at once as now. A job that has not started is
        assumed to take as long as others of its kind. None while the time is unknown for a remaining kind."""
        known = [row.left for row in self.jobs if row.left is not None]
        kinds = [
            (
                sum(not row.is_done and row.left is None for row in section.rows),
                [row.seconds for row in section.rows if row.seconds is not None and row.state not in ENDED_EARLY],
            )
            for section in self.sections
        ]
        return seconds_left(kinds, self.at_once, known=sum(known))

    def view(self, bars: bool) -> Group:
        """The view for readers: a line about the whole study, and a table for each kind of job, with `bars` or
        without."""
        line = f"{self.study}: {self.done} of {len(self.jobs)} jobs done"
        if self.left is not None and self.done < len(self.jobs):
            line += f", about {spoken(self.left)} left, {self.at_once} at a time"
        head = Table.grid(padding=(0, 1))
        share = sum(row.share for row in self.jobs) / len(self.jobs)
        head.add_row(*([bar(share)] if bars else []), line)
        return Group(head, *(section.table(bars) for section in self.sections))

    def content(self) -> dict[str, Any]:
        """The content for programs: the fields that docs/your-own-study.md lists."""
        return {
            "study": self.study,
            "done": self.done,
            "of": len(self.jobs),
            "seconds_left": _finite(self.left),
            "at_once": self.at_once,
            "jobs": [
                {
                    "kind": section.kind.name,
                    "id": row.id,
                    "state": row.state,
                    "detail": row.detail,
                    "is_done": row.is_done,
                    "unit": section.kind.unit,
                    "done": row.done,
                    "of": row.of,
                    "scores": {name: _finite(score) for name, score in row.scores.items()},
                    "tokens_per_second": _finite(row.speed),
                    "seconds_left": _finite(row.left),
                    "seconds_silent": row.silent,
                }
                for section in self.sections
                for row in section.rows
            ],
        }


def _finite(number: float | None) -> float | None:
    """A finite number, or None, as JSON has no other."""
    return number if number is not None and math.isfinite(number) else None


def show(study: Study, results: Path, origin: Path, watch: bool) -> None:
    """Print the progress of a study, whose file is `origin`; if `watch`, repeatedly, until all jobs are finished or the
    user interrupts."""
    # A file or a pipe gets the whole table, however wide.
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)

    path = shlex.quote(str(origin))
    beginning = Text(
        f"Nothing has been trained or measured yet.\n  preln plan {path}  estimates the cost\n"
        f"  preln run {path}   starts the study"
    )
    of_text = Text("\n".join(notes.told(notes.of_study(jobs_of(study), results))))

    def view(progress: StudyProgress) -> Group:
        bars = console.is_terminal and console.width >= WIDE
        has_begun = any(row.state is not State.WAITING for row in progress.jobs)
        return Group(progress.view(bars), *([of_text] if of_text else []), *([] if has_begun else [beginning]))

    progress = StudyProgress.read(study, results, time.time())
    if not watch:
        console.print(view(progress), highlight=False)
        return
    with suppress(KeyboardInterrupt), Live(view(progress), console=console, refresh_per_second=1) as live:
        while progress.done < len(progress.jobs):
            time.sleep(WATCH_SECONDS)
            progress = StudyProgress.read(study, results, time.time())
            live.update(view(progress))
