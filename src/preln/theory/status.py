"""Progress of a study's measurements and traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from preln.commands.progress import Progress, Section, State
from preln.config import Study
from preln.jobs.base import Job
from preln.jobs.runs import expand as expand_runs
from preln.records import packed
from preln.records.record import Record
from preln.theory import measurement_jobs, trace_jobs
from preln.theory.measurement_jobs import ExactJob, MeasurementJob
from preln.theory.trace_jobs import TraceJob


def sections(study: Study, results: Path) -> list[Section]:
    """The measurements, counted in seeds, and the traces, in updates. Each writes its record at its end."""
    measurements = [
        measurement(job, results / job.folder) for job in measurement_jobs.expand(study, expand_runs(study))
    ]
    traces = [trace(job, results / job.folder) for job in trace_jobs.expand(study)]
    return [
        Section(ExactJob.kind, "measurements of the theory", "seed", 0, (), measurements),
        Section(TraceJob.kind, "traces of first updates", "update", 0, (), traces),
    ]


def measurement(job: MeasurementJob, folder: Path) -> Progress:
    """A measurement's progress, from its folder."""
    seeds = job.seeds if isinstance(job, ExactJob) else len(job.seeds)
    return _recorded(job, folder, seeds, {"status": State.FINISHED, "updates": seeds})


def trace(job: TraceJob, folder: Path) -> Progress:
    """A trace's progress, from its folder."""
    return _recorded(job, folder, job.updates, {})


def _recorded(job: Job, folder: Path, total: int, implied: dict[str, Any]) -> Progress:
    """The progress of a job that writes one record at its end; `implied` holds values for keys that this record
    lacks."""
    record = Record(job, folder)
    if not packed.exists(record.path) or record.is_of_other_settings:
        return Progress(job.id, State.WAITING, 0, total)
    values = implied | record.content
    is_whole = {"identity", "updates"} <= values.keys() and values.get("status") in (State.FINISHED, State.DIVERGED)
    if damaged := record.damaged if is_whole else record.path:
        return Progress.damaged(job.id, damaged, total)
    return Progress(job.id, State(values["status"]), values["updates"], total, seconds=values.get("seconds"))
