"""Checks of a study before any job: its keys, its grids, its theory, and the files that it names.

`preln plan` and the workflow share these checks. One message has all mistakes in keys and values. If there are none,
one has all mistakes in jobs and files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.config import Mistake, Origin, Study, StudyError, placed, read, refuse, validate
from preln.corpora import local
from preln.jobs.base import Job
from preln.jobs.kinds import KINDS
from preln.jobs.trial import try_all


@dataclass(frozen=True)
class Checked:
    """A study that passed all checks, and its jobs by kind."""

    study: Study
    jobs: dict[str, list[Any]]

    @property
    def every(self) -> list[Job]:
        return [job for jobs in self.jobs.values() for job in jobs]


def check_file(path: Path) -> Checked:
    """Read and check a study.

    Raises:
        StudyError: with a line for each mistake.
    """
    return check(read(path), path)


def check(content: Any, origin: Origin) -> Checked:
    """Check the study in `content`, which was read from `origin`.

    Raises:
        StudyError: with a line for each mistake, which names the file, its line and the key.
    """
    study = validate(content, origin)
    wrong: list[Mistake] = []
    jobs: dict[str, list[Any]] = {}
    for kind in KINDS.values():
        try:
            jobs[kind.name] = list(kind.expand(study, origin))
        except StudyError as error:
            wrong.extend(error.mistakes)
    refuse([*wrong, *placed(origin, local.mistakes(study, origin))])
    settings = (getattr(job, "settings", None) for of_kind in jobs.values() for job in of_kind)
    try_all(model.placement for model in settings if model is not None)
    return Checked(study, jobs)
