"""All that can be known of a study before any job: its keys, its grids, its theory, and the files that it names.

`preln plan` and the workflow both ask here, so that they find the same mistakes: all of them, in one message.
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

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Grid:
    """A section with a grid: the settings of its runs, and the `key` of them that names one of another section."""

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
    """A study in which nothing is wrong that can be known before any job, and all that it asks for."""

    study: Study
    runs: list[Run]
    pretrainings: list[PretrainingRun]
    finetunings: list[FinetuningJob]
    measurement_jobs: list[MeasurementJob]
    traces: list[TraceJob]


def check_file(path: Path) -> Checked:
    """The study of a file, checked.

    Raises:
        StudyError: with a line for each thing that is wrong.
    """
    return check(read(path), path)


def check(content: Any, origin: Origin) -> Checked:
    """The study in `content`, which is from `origin`, checked.

    Raises:
        StudyError: with a line for each thing that is wrong, which names the file, its line and the key.
    """
    wrong: list[Mistake] = []

    def tried(make: Callable[[], Found], otherwise: Found) -> Found:
        try:
            return make()
        except StudyError as error:
            wrong.extend(error.mistakes)
            return otherwise

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
        runs = tried(lambda: expand(study, origin), [])
    if not sections & {"first_updates", "execution"}:
        traces = tried(lambda: trace_jobs.expand(study, origin), [])
    if not sections & {"pretraining", "execution"}:
        pretrainings = tried(lambda: pretraining.expand(study, origin), [])
    if is_whole and pretrainings:
        finetunings = tried(lambda: pretraining.finetunings(study, origin), [])
    if runs or not (study.theory and study.theory.gradients):
        theory = tried(lambda: measurement_jobs.expand(study, runs, origin), [])
    wrong += placed(origin, local.mistakes(study))
    refuse(wrong)
    return Checked(study, runs, pretrainings, finetunings, theory, traces)


def _of_settings(content: dict[str, Any], grid: _Grid) -> list[str]:
    """What is wrong with the settings of the runs of a study whose grid or `execution` is wrong itself, a line each."""
    wrong: list[str] = []
    section = content.get(grid.section)
    said = section if isinstance(section, dict) else {}
    common = _known(said.get("settings"), grid.model)
    runs = said.get("runs")
    entries = [_known(entry, grid.model) for entry in runs] if isinstance(runs, list) else []
    if sum(map(number_of_runs, entries)) > MOST_RUNS:
        return wrong
    for number, own in enumerate(entries):
        where = f"{grid.section}.runs.{number}"
        for settings in combinations(grid.model, common, own, where, wrong):
            name, defined = getattr(settings, grid.key), content.get(grid.names)
            if isinstance(defined, dict) and name not in defined:
                wrong.append(undefined(f"{where}.{grid.key}", name, defined))
    return wrong


def _known(said: Any, model: type[BaseModel]) -> dict[str, Any]:
    """Those of the keys that are a run's."""
    return {key: said[key] for key in said if key in model.model_fields} if isinstance(said, dict) else {}
