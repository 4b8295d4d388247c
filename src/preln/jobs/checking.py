"""Checks of a study before any job: its keys, its grids, its theory, and the files that it names.

`preln plan` and the workflow share these checks, and report all mistakes in one message.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from preln.config import Mistake, Origin, Study, StudyError, placed, read, refuse, validate
from preln.config.grid import MOST_RUNS, number_of_runs
from preln.config.study import right_part
from preln.corpora import local
from preln.jobs.base import Job
from preln.jobs.grid import GridKind, combinations, undefined
from preln.jobs.kinds import KINDS


@dataclass(frozen=True)
class Checked:
    """A study that passed all checks, and its jobs by kind."""

    study: Study
    jobs: dict[str, list[Any]]

    @property
    def every(self) -> list[Job]:
        """The jobs of all kinds."""
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
    wrong: list[Mistake] = []
    wrong_sections: set[str] = set()
    try:
        study = validate(content, origin)
    except StudyError as error:
        part, wrong_sections = right_part(content)
        if part is None:
            raise
        study = part
        wrong.extend(error.mistakes)
    jobs: dict[str, list[Any]] = {}
    for kind in KINDS.values():
        if not wrong_sections & {*kind.sections, "execution"}:
            try:
                jobs[kind.name] = list(kind.expand(study, origin))
            except StudyError as error:
                wrong.extend(error.mistakes)
        elif kind.grid:
            wrong += placed(origin, _of_settings(content, kind.sections[0], kind.grid))
    wrong += placed(origin, local.mistakes(study))
    refuse(wrong)
    return Checked(study, jobs)


def _of_settings(content: dict[str, Any], section: str, kind: GridKind[Any]) -> list[str]:
    """A line for each mistake in the settings of a grid's runs, for a study in which the grid or `execution` is
    invalid."""
    wrong: list[str] = []
    grid = content.get(section)
    if not isinstance(grid, dict):
        return wrong
    common = _known(grid.get("settings"), kind.settings)
    runs = grid.get("runs")
    entries = [_known(entry, kind.settings) for entry in runs] if isinstance(runs, list) else []
    if sum(map(number_of_runs, entries)) > MOST_RUNS:
        return wrong
    for number, entry in enumerate(entries):
        where = f"{section}.runs.{number}"
        for settings in combinations(kind.settings, common, entry, where, wrong):
            name, defined = getattr(settings, kind.text), content.get(kind.texts)
            if isinstance(defined, dict) and name not in defined:
                wrong.append(undefined(f"{where}.{kind.text}", name, defined))
    return wrong


def _known(settings: Any, model: type[BaseModel]) -> dict[str, Any]:
    """The settings whose keys the model has."""
    return {key: settings[key] for key in settings if key in model.model_fields} if isinstance(settings, dict) else {}
