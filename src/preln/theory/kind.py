"""Measurements of the theory, and traces of first updates, as kinds of jobs."""

from __future__ import annotations

from preln.jobs.kind import Kind
from preln.theory import measurement_jobs, trace_jobs
from preln.theory.measurement_jobs import ExactJob
from preln.theory.report.traces import load
from preln.theory.status import measurement, trace
from preln.theory.trace_jobs import TraceJob

THEORY = Kind(
    name=ExactJob.kind,
    title="measurements of the theory",
    expand=measurement_jobs.of_study,
    unit="seed",
    progress=measurement,
)

FIRST_UPDATES = Kind(
    name=TraceJob.kind,
    title="traces of first updates",
    expand=trace_jobs.expand,
    unit="update",
    progress=trace,
    curves=lambda study, jobs, results: load(study, jobs, results).table.drop(columns=["curve", "seed"]),
)
