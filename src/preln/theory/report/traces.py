"""The traces of first updates as one frame, and what the figure and the table show of each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.config import RunSettings, Study
from preln.jobs.grid import series
from preln.language import runs as language
from preln.libraries import pd
from preln.report.core import looks
from preln.report.core.entries import Source
from preln.report.core.labels import label, varying
from preln.report.core.looks import Look
from preln.report.core.records import done, origin_lines, table
from preln.theory.trace_jobs import TracedSettings, TraceJob, expand
from preln.translation.report import curves as translation


@dataclass(frozen=True)
class Records:
    """The traces of a study's runs.

    Attributes:
        jobs: all traces that are shown, done or not.
        table: a row an update, in the columns of the files and `run`, the run's id, `curve`, the name of the runs that
            differ from it in the seed alone, and `seed`.
        progress, origin: how many are done, and the commits and hardware, in a sentence each.
    """

    jobs: tuple[TraceJob, ...]
    table: pd.DataFrame
    progress: str
    origin: tuple[str, ...]

    @property
    def curves(self) -> dict[str, TracedSettings]:
        """The settings of each curve that is done, but for the seed, by its name."""
        done = set(self.table["run"]) if len(self.table) else set()
        curves = names(self.jobs)
        return {curves[job.id]: series(job.run.settings) for job in self.jobs if job.id in done}


def names(jobs: Sequence[TraceJob], without: Set[str] = frozenset()) -> dict[str, str]:
    """The name of the curve of each trace, by its id: traces that differ in the seed alone are one curve, and no name
    has the settings `without`."""
    settings = {job.id: series(job.run.settings) for job in jobs}
    differing = (varying(settings.values()) | {"placement"}) - without
    return {job: label(run, differing) for job, run in settings.items()}


def looks_of(study: Study, jobs: Sequence[TraceJob]) -> dict[Any, Look]:
    """The look of each trace: that of the training of its run, where the study has it."""
    if any(isinstance(job.settings, RunSettings) for job in jobs):
        return translation.looks_of(study)
    return looks.of_runs([*(run.settings for run in language.expand(study)), *(job.run.settings for job in jobs)])


def load(study: Study, jobs: Sequence[TraceJob], results: Path) -> Records:
    """The records of the traces that are done. It raises what `done` raises."""
    tables, origins, diverged = [], [], 0
    curves = names(jobs)
    for job, folder, record in done(study, jobs, results):
        # A column of its own for each layer; the copy puts them together, which pandas asks for.
        trace = table(folder / "updates.csv", ["update"]).copy()
        tables.append(trace.assign(run=job.id, curve=curves[job.id], seed=job.settings.seed))
        origins.append(record)
        diverged += record["status"] == "diverged"
    failed = f", {diverged} diverged" if diverged else ""
    return Records(
        tuple(jobs),
        pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["run", "curve", "seed", "update"]),
        f"Study {study.study}: the first updates of {len(tables)} of {len(jobs)} runs traced{failed}.",
        origin_lines(origins),
    )


def of_layer(quantity: str, settings: TracedSettings, last: bool) -> str:
    """The column of a quantity in the first or the last layer of a run's decoder."""
    return f"{quantity}.decoder.{settings.decoder_layers if last else 1}"


Number = Callable[["pd.DataFrame", TracedSettings], float]
"""Takes a number from a trace, a row an update from 0 on."""
FIRST = 10
"""Updates of which the largest step of the function is told."""


def largest_step(trace: pd.DataFrame, settings: TracedSettings) -> float:
    """The largest ‖Δf‖ of the first updates."""
    return float(trace["function_change"].iloc[1 : FIRST + 1].max())


def first_step(trace: pd.DataFrame, settings: TracedSettings) -> float:
    """‖Δf‖ of the first update."""
    return float(trace["function_change"].iloc[1])


def gradient_at_first(trace: pd.DataFrame, settings: TracedSettings, last: bool = True) -> float:
    """The norm of the gradient of the last decoder layer, or of the first, with the initial weights: that of the first
    update."""
    return float(trace[of_layer("gradient_norm", settings, last)].iloc[1])


SOURCE = Source(expand, load)
