"""How far a job is, read from its folder alone, and the table of such jobs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from preln.fairseq_plugin.log import newest_progress
from preln.jobs.base import Job
from preln.jobs.kind import Kind
from preln.records import packed
from preln.records.recording import METRICS, Record, read_or_nothing
from preln.training.state import RunState, Unit
from preln.training.validations import read_validations

VALIDATED = {"valid": "valid_loss"}
"""The columns of a validation's record by their headings."""
SILENT_SECONDS = 600
"""A job that has written nothing for so long has stopped; translating an epoch's sets can take minutes."""
BAR_WIDTH = 12
"""Columns of a terminal that a bar takes."""


class State(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    TRAINING = "training"
    FINE_TUNING = "fine-tuning"
    STOPPED = "stopped"
    FINISHED = "finished"
    DIVERGED = "diverged"
    NOT_REACHED = "not reached"
    DAMAGED = "damaged"


COLOURS = {
    State.WAITING: "dim",
    State.TRAINING: "cyan",
    State.FINE_TUNING: "cyan",
    State.STOPPED: "yellow",
    State.FINISHED: "green",
    State.DIVERGED: "magenta",
    State.NOT_REACHED: "magenta",
    State.DAMAGED: "red",
}


@dataclass(frozen=True)
class Progress:
    """Where one job stands.

    Attributes:
        done, of: the epochs, updates, fine-tunings or seeds that are done, and how many there are.
        detail: of a state: the update of a divergence, or the file that is damaged.
        scores: its newest, by the headings of the table.
        speed: in tokens a second.
        left: the seconds that are left.
        silent: the seconds since something was written.
        seconds: how long the whole job takes or took.

    None is not known, or no more of interest.
    """

    id: str
    state: State
    done: float
    of: int
    detail: str = ""
    scores: dict[str, float | None] = field(default_factory=dict)
    speed: float | None = None
    left: float | None = None
    silent: float | None = None
    seconds: float | None = None

    @property
    def is_done(self) -> bool:
        """Nothing is left to do, however it ended."""
        return self.state in (State.FINISHED, State.DIVERGED, State.NOT_REACHED)

    @property
    def is_running(self) -> bool:
        """A process is at work on it."""
        return self.state in (State.TRAINING, State.FINE_TUNING)

    @property
    def share(self) -> float:
        """How much of it is done, between 0 and 1."""
        return 1.0 if self.is_done else self.done / self.of

    def told(self) -> Text:
        """Its state for readers, such as `diverged (update 17)`."""
        return Text(f"{self.state} ({self.detail})" if self.detail else self.state, COLOURS[self.state])

    @classmethod
    def damaged(cls, name: str, file: Path, of: int) -> Progress:
        """A job whose record is damaged: the workflow does it again."""
        return cls(name, State.DAMAGED, 0, of, file.name)


@dataclass(frozen=True)
class Section:
    """The jobs of one kind."""

    kind: Kind[Any]
    rows: list[Progress]

    def table(self, bars: bool) -> Table:
        """The section as a table, with a bar for each job where `bars` are wanted. A column is left out if no job has
        anything in it."""
        done = sum(row.is_done for row in self.rows)
        result = Table(title=f"{done} of {len(self.rows)} {self.kind.title} done", title_justify="left", box=None)
        # On a narrow terminal, long ids go over several lines.
        result.add_column("", overflow="fold")
        result.add_column("state", no_wrap=True)
        cells: list[list[RenderableType]] = [[row.id, row.told()] for row in self.rows]
        if bars:
            result.add_column("", width=BAR_WIDTH)
            for cell, row in zip(cells, self.rows, strict=True):
                cell.append(bar(row.share, COLOURS[row.state]))
        scores = dict.fromkeys(heading for row in self.rows for heading in row.scores)
        numbers = {
            self.kind.unit: [f"{row.done:.{self.kind.digits}f}/{row.of}" for row in self.rows],
            **{heading: [shown(row.scores.get(heading), ".2f") for row in self.rows] for heading in scores},
            "tokens/s": [shown(row.speed, ",.0f") for row in self.rows],
            "left": ["" if row.left is None else spoken(row.left) for row in self.rows],
            "last news": ["" if row.silent is None else f"{spoken(row.silent)} ago" for row in self.rows],
        }
        for heading, column in numbers.items():
            if any(column):
                result.add_column(heading, justify="right", no_wrap=True)
                for cell, number in zip(cells, column, strict=True):
                    cell.append(number)
        for cell in cells:
            result.add_row(*cell)
        return result


def shown(value: float | None, form: str, unknown: str = "") -> str:
    """A number in a form of Python's, or what stands for one that is not known."""
    return unknown if value is None else f"{value:{form}}"


def bar(share: float, colour: str = COLOURS[State.TRAINING]) -> ProgressBar:
    """A bar of which a share is filled with a colour of rich's."""
    return ProgressBar(total=1.0, completed=share, width=BAR_WIDTH, complete_style=colour, finished_style=colour)


def spoken(seconds: float) -> str:
    """A time for readers, such as `1:02:03`."""
    return str(timedelta(seconds=round(seconds)))


def seconds_left(
    kinds: Iterable[tuple[int, Sequence[float]]], at_once: int, known: float = 0.0, spent: float = 0.0
) -> float | None:
    """About how long the rest takes.

    Args:
        kinds: of each kind of job, how many are left, and how many seconds each took of which this is known.
        at_once: how many jobs run at once.
        known: the seconds that other jobs still take.
        spent: the seconds that jobs of the `kinds` have run already and are not done.

    Returns:
        The seconds; None if of a kind that is left nothing is known.
    """
    rest = known - spent
    for left, took in kinds:
        if left > 0:
            if not took:
                return None
            rest += left * statistics.fmean(took)
    return max(rest, 0.0) / at_once


def state_in_progress(job: Job, folder: Path) -> RunState | None:
    """The state that a job without a current record goes on from; None if it has not begun. A state that is older than
    a record of other settings is that record's."""
    current = RunState.newest(folder)
    record = Record(job, folder)
    if current is None or not record.path.exists() or not record.is_of_other_settings:
        return current
    is_newer = current.attempts_file.stat().st_mtime > record.path.stat().st_mtime
    return current if is_newer else None


def training(
    job: Any,
    folder: Path,
    now: float,
    unit: Unit = "updates",
    columns: Mapping[str, str] = VALIDATED,
    read_record: Callable[[RunState], dict[int, dict[str, Any]]] = read_validations,
) -> Progress:
    """The progress of a training, whose folder is `folder`, at the time `now` in seconds since the epoch. It counts in
    a unit, and has the columns of its record under their headings, beside the loss of training."""

    def scores(last: dict[str, Any]) -> dict[str, float | None]:
        return {heading: last.get(column) for heading, column in columns.items()}

    name, of = job.id, getattr(job.settings, unit)
    metrics, record = folder / METRICS, Record(job, folder)
    if packed.exists(metrics) and not record.is_of_other_settings:
        values = read_or_nothing(metrics)
        damaged = None if {"status", "diverged", "final", unit} <= values.keys() else metrics
        if damaged := damaged or record.damaged:
            return Progress.damaged(name, damaged, of)
        diverged = values["diverged"]
        last = values["final"] or {}
        return Progress(
            name,
            State.DIVERGED if diverged else State.FINISHED,
            values[unit],
            of,
            f"update {diverged['update']}" if diverged else "",
            {"train": last.get("train_loss"), **scores(last)},
            last.get("tokens_per_second"),
            seconds=values.get("seconds"),
        )
    current = state_in_progress(job, folder)
    if current is None:
        return Progress(name, State.WAITING, 0, of)
    entries = read_record(current)
    last = entries[max(entries)] if entries else {}
    latest = newest_progress(current.log)
    logged = float(getattr(latest, unit)) if latest else 0.0
    done = max(logged, max(entries, default=0))
    left = seconds = None
    if latest and latest.updates_per_second > 0 and logged > 0:
        of_one = latest.updates / logged / latest.updates_per_second
        left, seconds = max(of - done, 0) * of_one, of * of_one
    silent = current.silence(current.log, now)
    return Progress(
        name,
        State.TRAINING if silent < SILENT_SECONDS else State.STOPPED,
        done,
        of,
        scores={"train": latest.loss if latest else None, **scores(last)},
        speed=latest.tokens_per_second if latest else None,
        left=left,
        silent=silent,
        seconds=seconds,
    )
