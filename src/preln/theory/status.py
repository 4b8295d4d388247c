"""How far the traces of a study are."""

from __future__ import annotations

from pathlib import Path

from preln.config import Study
from preln.freshness import read_or_nothing
from preln.progress import Progress, Section
from preln.recording import RUN, damaged_beside
from preln.theory.trace_jobs import TraceJob, expand


def sections(study: Study, results: Path) -> list[Section]:
    """The traces: the updates that are made of each that is done. Nothing is written before."""
    rows = [progress(job, results / job.folder) for job in expand(study)]
    return [Section("traces of first updates", "update", 0, (), rows)]


def progress(job: TraceJob, folder: Path) -> Progress:
    """The progress of a trace, whose folder is `folder`."""
    record = folder / RUN
    if not record.exists():
        return Progress(job.id, "waiting", 0, job.updates)
    values = read_or_nothing(record)
    damaged = damaged_beside(record) if {"status", "updates"} <= values.keys() else record
    if damaged:
        return Progress(job.id, f"damaged: {damaged.name}", 0, job.updates)
    return Progress(job.id, values["status"], values["updates"], job.updates)
