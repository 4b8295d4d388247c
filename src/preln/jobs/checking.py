"""Checks of a study before any job: its keys, its grids, its theory, and the files that it names.

`preln plan` and the workflow share these checks, and report all mistakes in one message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from preln.config import (
    Mistake,
    Origin,
    PretrainingSettings,
    RunSettings,
    Study,
    StudyError,
    placed,
    read,
    refuse,
    validate,
)
from preln.config.grid import MOST_RUNS, number_of_runs
from preln.config.study import right_part
from preln.corpora import local
from preln.jobs.runs import Run, combinations, expand, undefined
from preln.pretraining import runs as pretraining
from preln.pretraining.runs import FinetuningJob, PretrainingRun
from preln.theory import measurement_jobs, trace_jobs
from preln.theory.measurement_jobs import MeasurementJob
from preln.theory.trace_jobs import TraceJob

T = TypeVar("T")


@dataclass(frozen=True)
class _Grid:
    """A section with a grid: its runs' settings, and their `key` that refers to an entry of another section."""

    section: str
    model: type[BaseModel]
    key: str
    names: str


GRIDS = (
    _Grid("translation", RunSettings, "corpus", "corpora"),
    _Grid("first_updates", RunSettings, "corpus", "corpora"),
    _Grid("pretraining", PretrainingSettings, "text", "texts"),
)


@dataclass(frozen=True)
class Checked:
    """A study that passed all checks, and its jobs."""

    study: Study
    runs: list[Run]
    pretrainings: list[PretrainingRun]
    finetunings: list[FinetuningJob]
    measurement_jobs: list[MeasurementJob]
    traces: list[TraceJob]


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

    def attempt(expansion: Callable[[], T], default: T) -> T:
        try:
            return expansion()
        except StudyError as error:
            wrong.extend(error.mistakes)
            return default

    try:
        study, sections, is_whole = validate(content, origin), set[str](), True
    except StudyError as error:
        part, sections = right_part(content)
        if part is None:
            raise
        study, is_whole = part, False
        wrong.extend(error.mistakes)
    runs: list[Run] = []
    pretrainings: list[PretrainingRun] = []
    finetunings: list[FinetuningJob] = []
    theory: list[MeasurementJob] = []
    traces: list[TraceJob] = []
    for grid in GRIDS:
        if sections & {grid.section, "execution"}:
            wrong += placed(origin, _of_settings(content, grid))
    if not sections & {"translation", "execution"}:
        runs = attempt(lambda: expand(study, origin), [])
    if not sections & {"first_updates", "execution"}:
        traces = attempt(lambda: trace_jobs.expand(study, origin), [])
    if not sections & {"pretraining", "execution"}:
        pretrainings = attempt(lambda: pretraining.expand(study, origin), [])
    if is_whole and pretrainings:
        finetunings = attempt(lambda: pretraining.finetunings(study, origin), [])
    if runs or not (study.theory and study.theory.gradients):
        theory = attempt(lambda: measurement_jobs.expand(study, runs, origin), [])
    wrong += placed(origin, local.mistakes(study))
    refuse(wrong)
    return Checked(study, runs, pretrainings, finetunings, theory, traces)


def _of_settings(content: dict[str, Any], grid: _Grid) -> list[str]:
    """A line for each mistake in the runs' settings, for a study in which the grid or `execution` is invalid."""
    wrong: list[str] = []
    section = content.get(grid.section)
    if not isinstance(section, dict):
        return wrong
    common = _known(section.get("settings"), grid.model)
    runs = section.get("runs")
    entries = [_known(entry, grid.model) for entry in runs] if isinstance(runs, list) else []
    if sum(map(number_of_runs, entries)) > MOST_RUNS:
        return wrong
    for number, entry in enumerate(entries):
        where = f"{grid.section}.runs.{number}"
        for settings in combinations(grid.model, common, entry, where, wrong):
            name, defined = getattr(settings, grid.key), content.get(grid.names)
            if isinstance(defined, dict) and name not in defined:
                wrong.append(undefined(f"{where}.{grid.key}", name, defined))
    return wrong


def _known(settings: Any, model: type[BaseModel]) -> dict[str, Any]:
    """The settings whose keys the model has."""
    return {key: settings[key] for key in settings if key in model.model_fields} if isinstance(settings, dict) else {}
