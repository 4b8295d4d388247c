"""All records that the page tells of, loaded once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from preln.config import Study
from preln.report.pretraining import records as pretraining_records
from preln.report.theory import records as theory_records
from preln.report.translation import records
from preln.runs import Run
from preln.theory.measurement_jobs import MeasurementJob


@dataclass(frozen=True)
class Content:
    """A study and what it has recorded.

    Attributes:
        study: the study.
        runs: all of its translation runs.
        results: folder of the results of all studies.
        done: a row for each of the runs that is done.
        curves: a row for each of their epochs.
        bert: the records of pre-training and fine-tuning.
        theory: those of the theory.
    """

    study: Study
    runs: Sequence[Run]
    results: Path
    done: pd.DataFrame
    curves: pd.DataFrame
    bert: pretraining_records.Records
    theory: theory_records.Records

    def folders(self) -> list[Path]:
        """The folders of all that is done."""
        done: dict[str, Iterable[str]] = {
            "translation": self.done["run"],
            "pretraining": self.bert.metrics,
            "finetuning": sorted(self.bert.done),
            "theory": self.theory.table["part"].unique(),
        }
        return [self.results / self.study.study / room / job for room, jobs in done.items() for job in jobs]


def load(study: Study, runs: Sequence[Run], parts: Sequence[MeasurementJob], results: Path) -> Content:
    """Load the records of a study; arguments and errors are those of `preln.report.html.page.write`."""
    return Content(
        study,
        runs,
        results,
        records.summary(study, runs, results),
        records.curves(study, runs, results),
        pretraining_records.load(study, results),
        theory_records.load(study, parts, results),
    )
