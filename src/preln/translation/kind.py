"""Translation as a kind of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from preln.config import Study
from preln.jobs.grid import series_name
from preln.jobs.kind import Kind, Number
from preln.translation.estimates import estimates
from preln.translation.runs import GRID, Run, expand
from preln.translation.status import progress

if TYPE_CHECKING:
    from pandas import DataFrame

    from preln.training.training import TrainedModel


def _numbers(study: Study, runs: Sequence[Run], results: Path) -> Iterator[Number]:
    """The last losses and BLEU."""
    from preln.translation.report.records import summary

    by_id = {run.id: run for run in runs}
    for row in summary(study, runs, results).to_dict("records"):
        run, diverged = by_id[row["run"]], row["status"] == "diverged"
        for quantity in ("valid_loss", "test_bleu"):
            value = None if diverged else float(row[f"final_{quantity}"])
            yield Number(series_name(run), quantity, run.settings.seed, value, diverged)


def _curves(study: Study, runs: Sequence[Run], results: Path) -> DataFrame:
    """The curves, in which `rate` is the current learning rate."""
    from preln.translation.report.records import MEASURED, curves

    return curves(study, runs, results)[["run", *MEASURED]]


def _trained(run: Run, prepared: Path, folder: Path) -> TrainedModel:
    """The model of a run."""
    # Importing torch takes seconds, which the other commands should not wait for.
    from preln.translation.training import trained

    return trained(run, prepared, folder)


TRANSLATION = Kind(
    name=Run.kind,
    title="runs",
    sections=("translation",),
    expand=expand,
    grid=GRID,
    unit="epoch",
    digits=1,
    headings=("train", "valid", "BLEU"),
    progress=progress,
    estimates=estimates,
    numbers=_numbers,
    curves=_curves,
    trained=_trained,
)
