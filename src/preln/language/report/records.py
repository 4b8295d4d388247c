"""The records of a study's language models as tidy frames. A run counts as done when its folder holds metrics.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.language.runs import LanguageRun, expand
from preln.libraries import pd
from preln.pretraining.curve import COLUMNS
from preln.records import recording
from preln.report.core.entries import Source
from preln.report.core.records import done, origin_lines, table


@dataclass(frozen=True)
class Records:
    """What is done of a study's language models.

    Attributes:
        runs: the runs, whether they are done or not.
        curves: a row a validation: `run` and the columns of curve.csv.
        metrics: metrics.json of the runs that are done, by id.
        progress: how much is done, in a sentence.
        origin: commits and hardware, in a sentence each.
    """

    runs: tuple[LanguageRun, ...]
    curves: pd.DataFrame
    metrics: dict[str, dict[str, Any]]
    progress: str
    origin: tuple[str, ...]


def load(study: Study, runs: Sequence[LanguageRun], results: Path) -> Records:
    """The records of what is done of some runs; `results` is the folder of the results of all studies.

    Raises:
        RecordError: if a file is missing, damaged, or was made with other settings than the study's, or of another text
            than another run.
    """
    origins: list[dict[str, Any]] = []
    curves, metrics = [], {}
    for run, folder, record in done(study, runs, results, recording.METRICS):
        metrics[run.id] = recording.read(folder / recording.METRICS)
        origins.append(record)
        curve = table(folder / "curve.csv", COLUMNS)[COLUMNS]
        # A run that diverged before its first validation has no row, and without one a column has no type.
        curves += [curve.assign(run=run.id)] if len(curve) else []
    return Records(
        tuple(runs),
        pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=[*COLUMNS, "run"]),
        metrics,
        f"Study {study.study}: {len(metrics)} of {len(runs)} language models are done.",
        origin_lines(origins),
    )


SOURCE = Source(expand, load)
