"""Traces of first updates and measurements, by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preln.config import RunSettings
from preln.libraries import pd
from preln.questions.core.evidence import Evidence


@dataclass(frozen=True)
class Trace:
    """The first updates of a run: a row an update, and the run's settings."""

    table: pd.DataFrame
    settings: RunSettings


def traced(evidence: Evidence) -> list[Trace]:
    """Every trace of more than its first state, in the order of the jobs."""
    found = []
    for study in evidence.studies:
        runs = {job.id: job.settings for job in study.traces.jobs}
        for run, table in study.traces.table.groupby("run", sort=False):
            if len(table) > 1:
                found.append(Trace(table.sort_values("update"), runs[str(run)]))
    return found


def by_settings(evidence: Evidence, placement: str) -> dict[RunSettings, dict[int, Trace]]:
    """The traces of a placement by seed, and by all other settings."""
    found: dict[RunSettings, dict[int, Trace]] = {}
    for one in traced(evidence):
        if one.settings.placement == placement:
            alike = one.settings.model_copy(update={"placement": "post", "seed": 0})
            found.setdefault(alike, {})[one.settings.seed] = one
    return found


def by_seed(measured: pd.DataFrame) -> dict[int, float]:
    """The values of measurements that are a row a seed."""
    return {int(row["seed"]): float(row["value"]) for row in measured.to_dict("records")}


def over(one: Mapping[int, float], other: Mapping[int, float]) -> list[float]:
    """The ratio, of the seeds that both have."""
    return [one[seed] / other[seed] for seed in sorted(one.keys() & other.keys())]
