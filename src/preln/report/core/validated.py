"""Runs that are validated every so many updates, BERT and language models, as figures and tables show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from preln.config import Study
from preln.jobs.grid import series, series_name
from preln.jobs.kind import Number
from preln.libraries import pd
from preln.records import recording
from preln.report.core import looks
from preln.report.core.curve_figure import Panel, TrainedRun, curves_of, progress, shared
from preln.report.core.labels import names
from preln.report.core.records import done, table
from preln.training.validations import COLUMNS

if TYPE_CHECKING:
    from preln.language.runs import LanguageRun
    from preln.pretraining.runs import PretrainingRun

R = TypeVar("R", bound="PretrainingRun | LanguageRun")

ALWAYS = frozenset({"placement", "learning_rate", "warmup"})
"""The settings that the names of curves have even where their values do not differ."""


@dataclass(frozen=True)
class Validated(Generic[R]):
    """The records of some runs, as far as they are done.

    Attributes:
        curves: a row a validation: `run` and the columns of curve.csv.
        metrics: metrics.json of the runs that are done, by id.
        progress, origin: how much is done, and the commits and hardware, in a sentence each.
    """

    runs: tuple[R, ...]
    curves: pd.DataFrame
    metrics: dict[str, dict[str, Any]]
    progress: str
    origin: tuple[str, ...]

    def trained(self, run: R) -> TrainedRun:
        """A run as the curve figure draws it."""
        metrics = self.metrics.get(run.id)
        points = self.curves[self.curves["run"] == run.id] if metrics else None
        diverged = metrics["diverged"]["update"] if metrics and metrics["diverged"] else None
        return TrainedRun(run.settings, points, diverged)

    def note(self, study: Study) -> str:
        """The note below a figure: how many runs are done, and what most of them share."""
        _, common = names([series(run.settings) for run in self.runs], ALWAYS)
        texts = [run.settings.text for run in self.runs]
        return f"{progress(study.study, texts, [self.trained(run) for run in self.runs])} {shared(common)}"

    def panels(
        self, y_title: str, text_of: Callable[[R], str], baseline: Callable[[list[R]], tuple[float, str]]
    ) -> list[list[Panel]]:
        """A panel for each text that has a run that is done, with its name by `text_of` and the level of its runs'
        `baseline`."""
        settings = [series(run.settings) for run in self.runs]
        (called, _), look = names(settings, ALWAYS), looks.of_runs(settings)
        texts = dict.fromkeys(text_of(run) for run in self.runs if run.id in self.metrics)
        rows = []
        for text in texts:
            runs = [run for run in self.runs if text_of(run) == text]
            title = f"Validation loss, {text}" if len(texts) > 1 else "Validation loss"
            curves = curves_of([self.trained(run) for run in runs], "valid_loss", called, look)
            rows.append([Panel(title, y_title, curves, baseline=baseline(runs))])
        return rows

    def last_losses(self) -> Iterator[Number]:
        """The last validation loss of each run that is done, for `preln compare`."""
        for run in self.runs:
            if metrics := self.metrics.get(run.id):
                diverged = bool(metrics["diverged"])
                loss = None if diverged else metrics["final"]["valid_loss"]
                yield Number(series_name(run), "valid_loss", run.settings.seed, loss, diverged)

    def ending(self, run: R) -> dict[str, Any]:
        """The columns of a table that say how a run that is done ended."""
        metrics = self.metrics[run.id]
        return {
            "status": metrics["status"],
            "diverged_update": metrics["diverged"]["update"] if metrics["diverged"] else None,
            "trained_updates": metrics["updates"],
            "parameters": metrics["parameters"],
            "final_valid_loss": metrics["final"]["valid_loss"] if metrics["final"] else None,
            "best_valid_loss": metrics["best"]["valid_loss"] if metrics["best"] else None,
        }

    def speed(self, run: R) -> dict[str, Any]:
        """The columns of a table that say how fast it was."""
        curve = self.curves[self.curves["run"] == run.id]
        return {"tokens_per_second": curve["tokens_per_second"].median(), "seconds": self.metrics[run.id]["seconds"]}


def read(
    study: Study, runs: Sequence[R], results: Path
) -> tuple[pd.DataFrame, dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The curves, the metrics and the run.json of what is done of some runs; `results` is the folder of the results of
    all studies.

    Raises:
        RecordError: if a file is missing, damaged, or was made with other settings than the study's, or of another text
            than another run.
    """
    curves, metrics, records = [], {}, []
    for run, folder, record in done(study, runs, results, recording.METRICS):
        metrics[run.id] = recording.read(folder / recording.METRICS)
        records.append(record)
        curve = table(folder / "curve.csv", COLUMNS)[COLUMNS]
        # A run that diverged before its first validation has no row, and without one a column has no type.
        curves += [curve.assign(run=run.id)] if len(curve) else []
    known = pd.concat(curves, ignore_index=True) if curves else pd.DataFrame(columns=[*COLUMNS, "run"])
    return known, metrics, records
