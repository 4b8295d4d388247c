"""How far the measurements and the traces of a study are."""

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
    """The measurements, by their seeds, and the traces, by their updates. Nothing is written before one is done."""
    measurements = [
        measurement(job, results / job.folder) for job in measurement_jobs.expand(study, expand_runs(study))
    ]
    traces = [trace(job, results / job.folder) for job in trace_jobs.expand(study)]
    return [
        Section(ExactJob.kind, "measurements of the theory", "seed", 0, (), measurements),
        Section(TraceJob.kind, "traces of first updates", "update", 0, (), traces),
    ]


def measurement(job: MeasurementJob, folder: Path) -> Progress:
    """The progress of a measurement, whose folder is `folder`."""
    seeds = job.seeds if isinstance(job, ExactJob) else len(job.seeds)
    return _recorded(job, folder, seeds, {"status": State.FINISHED, "updates": seeds})


def trace(job: TraceJob, folder: Path) -> Progress:
    """The progress of a trace, whose folder is `folder`."""
    return _recorded(job, folder, job.updates, {})


def _recorded(job: Job, folder: Path, of: int, implied: dict[str, Any]) -> Progress:
    """The progress of a job with one record, which is written at its end; `implied` has the values of keys that such a
    record lacks."""
    record = Record(job, folder)
    if not packed.exists(record.path) or record.is_of_other_settings:
        return Progress(job.id, State.WAITING, 0, of)
    values = implied | record.content
    is_whole = {"identity", "updates"} <= values.keys() and values.get("status") in (State.FINISHED, State.DIVERGED)
    if damaged := record.damaged if is_whole else record.path:
        return Progress.damaged(job.id, damaged, of)
    return Progress(job.id, State(values["status"]), values["updates"], of, seconds=values.get("seconds"))
