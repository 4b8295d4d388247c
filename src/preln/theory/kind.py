"""Measurements of the theory, and traces of first updates, as kinds of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from preln.commands.progress import Progress, State
from preln.jobs.kind import Kind
from preln.records import packed
from preln.records.recording import Record
from preln.theory import measurement_jobs, trace_jobs
from preln.theory.measurement_jobs import ExactJob, MeasurementJob
from preln.theory.report.traces import load
from preln.theory.trace_jobs import TraceJob


def progress(job: MeasurementJob | TraceJob, folder: Path, now: float) -> Progress:
    """The progress of a job that writes one record at its end: in updates of a trace, and in seeds of a measurement,
    whose record does not count them."""
    if isinstance(job, TraceJob):
        total, implied = job.updates, dict[str, Any]()
    else:
        total = job.seeds if isinstance(job, ExactJob) else len(job.seeds)
        implied = {"status": State.FINISHED, "updates": total}
    record = Record(job, folder)
    if not packed.exists(record.path) or record.is_of_other_settings:
        return Progress(job.id, State.WAITING, 0, total)
    values = implied | record.content
    is_whole = {"identity", "updates"} <= values.keys() and values.get("status") in (State.FINISHED, State.DIVERGED)
    if damaged := record.damaged if is_whole else record.path:
        return Progress.damaged(job.id, damaged, total)
    return Progress(job.id, State(values["status"]), values["updates"], total, seconds=values.get("seconds"))


THEORY = Kind(
    name=ExactJob.kind,
    title="measurements of the theory",
    expand=measurement_jobs.expand,
    unit="seed",
    progress=progress,
)

FIRST_UPDATES = Kind(
    name=TraceJob.kind,
    title="traces of first updates",
    expand=trace_jobs.expand,
    unit="update",
    progress=progress,
    curves=lambda study, jobs, results: load(study, jobs, results).table.drop(columns=["curve", "seed"]),
)
