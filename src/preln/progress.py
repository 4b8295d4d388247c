"""How far a job is, read from its folder alone, and the table of such jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.table import Table

from preln.fairseq_plugin.log import newest_progress
from preln.freshness import read_or_nothing
from preln.recording import METRICS, RUN, damaged_beside
from preln.run_state import RunState, Unit

SILENT_SECONDS = 600
"""A job that has written nothing for so long has stopped; translating an epoch's sets can take minutes."""


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

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do, however it ended."""
        return self.state.startswith(("finished", "diverged", "not reached"))


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
        done = sum(row.is_done for row in self.rows)
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


@dataclass(frozen=True)
class Counting:
    """How a training counts: in epochs or in updates, and which columns of its record stand under which headings,
    beside the loss of training."""

    unit: Unit
    columns: dict[str, str]
    read_record: Callable[[RunState], dict[int, dict[str, Any]]]


def training(name: str, of: int, folder: Path, now: float, counting: Counting) -> Progress:
    """The progress of a training of `of` units, whose folder is `folder`, at the time `now` in seconds since the
    epoch."""
    metrics = folder / METRICS
    if metrics.exists():
        values = read_or_nothing(metrics)
        damaged = None if {"status", "diverged", "final", counting.unit} <= values.keys() else metrics
        if damaged := damaged or damaged_beside(folder / RUN):
            return Progress(name, f"damaged: {damaged.name}", 0, of)
        state = values["status"]
        if values["diverged"]:
            state += f" at update {values['diverged']['update']}"
        last = values["final"] or {}
        scores = {"train": last.get("train_loss"), **_scores(last, counting)}
        return Progress(name, state, values[counting.unit], of, scores, last.get("tokens_per_second"))
    current = RunState.newest(folder)
    if current is None:
        return Progress(name, "waiting", 0, of)
    record = counting.read_record(current)
    last = record[max(record)] if record else {}
    latest = newest_progress(current.log)
    logged = float(getattr(latest, counting.unit)) if latest else 0.0
    done = max(logged, max(record, default=0))
    left = None
    if latest and latest.updates_per_second > 0 and logged > 0:
        left = latest.updates / logged * max(of - done, 0) / latest.updates_per_second
    silent = current.silence(current.log, now)
    return Progress(
        name,
        "training" if silent < SILENT_SECONDS else "stopped",
        done,
        of,
        {"train": latest.loss if latest else None, **_scores(last, counting)},
        latest.tokens_per_second if latest else None,
        left,
        silent,
    )


def _scores(last: dict[str, Any], counting: Counting) -> dict[str, float | None]:
    return {heading: last.get(column) for heading, column in counting.columns.items()}
