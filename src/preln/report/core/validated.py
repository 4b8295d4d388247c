"""Runs that are validated every so many updates, BERT and language models, as figures and tables show them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from preln.config import Study
from preln.jobs.grid import series, series_name
from preln.jobs.kind import Number
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.records import recording
from preln.report.core import looks
from preln.report.core.curve_figure import Panel, TrainedRun, curves_of, progress, shared
from preln.report.core.forms import rounded
from preln.report.core.labels import OPTIMIZERS, names, varying
from preln.report.core.records import done, table
from preln.training.validations import COLUMNS
from preln.values import short

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

    @cached_property
    def _curves(self) -> dict[Any, pd.DataFrame]:
        """The curve of each run that has a validation, by the run's id."""
        return dict(iter(self.curves.groupby("run", sort=False)))

    def curve(self, run: R) -> pd.DataFrame:
        """The curve of a run, without a row if it has no validation."""
        return self._curves.get(run.id, self.curves.head(0))

    def trained(self, run: R) -> TrainedRun:
        """A run as the curve figure draws it."""
        metrics = self.metrics.get(run.id)
        points = self.curve(run) if metrics else None
        diverged = metrics["diverged"]["update"] if metrics and metrics["diverged"] else None
        return TrainedRun(run.settings, points, diverged)

    def drawn(
        self, study: Study, y_title: str, text_of: Callable[[R], str], baseline: Callable[[list[R]], tuple[float, str]]
    ) -> tuple[list[list[Panel]], str]:
        """A panel for each text that has a run that is done, with its name by `text_of` and the level of its runs'
        `baseline`. The note has how many runs are done, and what most of them share."""
        settings = [series(run.settings) for run in self.runs]
        (called, common), look = names(settings, ALWAYS), looks.of_runs(settings)
        texts = dict.fromkeys(text_of(run) for run in self.runs if run.id in self.metrics)
        rows = []
        for text in texts:
            runs = [run for run in self.runs if text_of(run) == text]
            title = f"Validation loss, {text}" if len(texts) > 1 else "Validation loss"
            curves = curves_of([self.trained(run) for run in runs], "valid_loss", called, look)
            rows.append([Panel(title, y_title, curves, baseline=baseline(runs))])
        count = progress(study.study, [run.text for run in settings], [self.trained(run) for run in self.runs])
        return rows, f"{count} {shared(common)}"

    def last_losses(self) -> Iterator[Number]:
        """The last validation loss of each run that is done, for `preln compare`."""
        for run in self.runs:
            if metrics := self.metrics.get(run.id):
                diverged = bool(metrics["diverged"])
                loss = None if diverged else metrics["final"]["valid_loss"]
                yield Number(series_name(run), "valid_loss", run.settings.seed, loss, diverged)

    def table(self, always: Collection[str], own: Callable[[R, pd.DataFrame], dict[str, Any]]) -> pd.DataFrame:
        """A row for each run that is done, in full precision: the settings `always` and those that vary, how it ended,
        its losses in bits a token, the columns of its kind, by `own` from the run and its curve, and its speed."""
        told = {*always, *varying(run.settings for run in self.runs)}
        rows = []
        for run in (run for run in self.runs if run.id in self.metrics):
            metrics, curve = self.metrics[run.id], self.curve(run)
            rows.append(
                {
                    "run": run.id,
                    **{key: getattr(run.settings, key) for key in type(run.settings).model_fields if key in told},
                    "status": metrics["status"],
                    "diverged_update": metrics["diverged"]["update"] if metrics["diverged"] else None,
                    "trained_updates": metrics["updates"],
                    "parameters": metrics["parameters"],
                    "final_valid_loss": metrics["final"]["valid_loss"] if metrics["final"] else None,
                    "best_valid_loss": metrics["best"]["valid_loss"] if metrics["best"] else None,
                    **own(run, curve),
                    "tokens_per_second": curve["tokens_per_second"].median(),
                    "seconds": metrics["seconds"],
                }
            )
        table = pd.DataFrame(rows)
        return table.astype({"diverged_update": "Int64"}) if rows else table

    def readable(
        self, table: pd.DataFrame, left_out: Collection[str], own: Callable[[dict[Any, Any]], dict[str, str]]
    ) -> pd.DataFrame:
        """Such a table for readers, with the columns of its kind by `own` from a row; settings that are `left_out` have
        no column of their own."""
        rows = []
        for row in table.to_dict("records"):
            others = [key for key in type(self.runs[0].settings).model_fields if key in row and key not in left_out]
            rows.append(
                {
                    "Model": PLACEMENTS[row["placement"]].label,
                    **({"Optimizer": OPTIMIZERS[row["optimizer"]]} if "optimizer" in row else {}),
                    "Peak rate": short(row["learning_rate"]),
                    "Warm-up": str(row["warmup"]) if row["warmup"] > 1 else "none",
                    **{key.replace("_", " ").capitalize(): short(row[key]) for key in others},
                    "Seed": str(row["seed"]),
                    "Updates": str(row["trained_updates"]),
                    "Status": row["status"] if row["status"] == "finished" else f"diverged at {row['diverged_update']}",
                    "Valid. loss": rounded(row["final_valid_loss"], 3),
                    "Best loss": rounded(row["best_valid_loss"], 3),
                    **own(row),
                    "Tokens/s": rounded(row["tokens_per_second"], 0),
                }
            )
        return pd.DataFrame(rows)


def read(
    study: Study, runs: Sequence[R], results: Path
) -> tuple[pd.DataFrame, dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The curves, the metrics and the run.json of what is done of some runs; `results` is the folder of the results of
    all studies. It raises what `done` raises."""
    curves: dict[str, pd.DataFrame] = {}
    metrics, records = {}, []
    for run, folder, record in done(study, runs, results, recording.METRICS):
        metrics[run.id] = recording.read(folder / recording.METRICS)
        records.append(record)
        curve = table(folder / "curve.csv", COLUMNS)
        # A run that diverged before its first validation has no row, and without one a column has no type.
        curves |= {run.id: curve} if len(curve) else {}
    columns = [*COLUMNS, "run"]
    if not curves:
        return pd.DataFrame(columns=columns), metrics, records
    known: pd.DataFrame = pd.concat(curves, names=["run", None]).reset_index("run")
    return known[columns].reset_index(drop=True), metrics, records
