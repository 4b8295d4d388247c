"""The declaration of a figure or a table: its name, title and caption, the records that it needs, and what makes it.

The catalogue finds every declaration in the modules of the report. Each start of the workflow reads these modules, so
they import matplotlib and seaborn only inside the functions that draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from preln.config import Study
from preln.jobs.base import Job

J = TypeVar("J", bound=Job)
R = TypeVar("R")


@dataclass(frozen=True)
class Source(Generic[J, R]):
    """A kind of records: the jobs of a study that make them, and what reads what is done of some of these, from the
    folder of the results of all studies."""

    jobs: Callable[[Study], Sequence[J]]
    load: Callable[[Study, Sequence[J], Path], R]


@dataclass(frozen=True, kw_only=True)
class Entry(Generic[R]):
    """A figure or a table.

    Attributes:
        name: what the command line and the files of the results call it.
        title: what it shows, in a line.
        caption: how it is read, and what the paper says of it. Plain text, in paragraphs.
        source: the records that it is made from.
        of: those of the source's jobs that it shows. A study has the entry if there is one.
    """

    name: str
    title: str
    caption: str
    source: Source[Any, R]
    of: Callable[[Study, Sequence[Any]], Sequence[Any]] = lambda study, jobs: jobs
