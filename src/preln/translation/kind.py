"""Translation as a kind of training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from preln.commands.progress import VALIDATED, training
from preln.config import Study
from preln.jobs.grid import series_name
from preln.jobs.kind import Kind, Number
from preln.translation.curve import read_epochs
from preln.translation.estimates import estimates
from preln.translation.report.records import MEASURED, load
from preln.translation.runs import Run, expand
from preln.translation.training import trained


def _numbers(study: Study, runs: Sequence[Run], results: Path) -> Iterator[Number]:
    """The last losses, BLEU and, where it is recorded, chrF."""
    by_id = {run.id: run for run in runs}
    for row in load(study, runs, results).summary.to_dict("records"):
        run, diverged = by_id[row["run"]], row["status"] == "diverged"
        for quantity in ("valid_loss", "test_bleu", "test_chrf"):
            value = None if diverged else float(row.get(f"final_{quantity}", math.nan))
            if f"final_{quantity}" in row and (value is None or not math.isnan(value)):
                yield Number(series_name(run), quantity, run.settings.seed, value, diverged)


_COLUMNS = {**VALIDATED, "BLEU": "test_bleu"}
TRANSLATION = Kind(
    name=Run.kind,
    title="runs",
    expand=expand,
    unit="epoch",
    digits=1,
    progress=partial(training, unit="epochs", columns=_COLUMNS, read_record=read_epochs),
    estimates=estimates,
    numbers=_numbers,
    # `rate` is the current learning rate.
    curves=lambda study, runs, results: load(study, runs, results).curves[["run", *MEASURED]],
    trained=trained,
)
