"""A study's curves for other software: one long table, and TensorBoard's event files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.errors import PrelnError
from preln.jobs.base import Job
from preln.jobs.kinds import KINDS
from preln.libraries import pd
from preln.records.files import new_folder, replaced

SETTINGS = ["placement", "optimizer", "learning_rate", "warmup", "seed"]
"""The columns with a run's settings; a pre-training has no `optimizer`."""
COLUMNS = ["kind", "run", *SETTINGS, "update", "epoch", "quantity", "value"]

_AT = ["run", "update", "epoch"]


def load(study: Study, results: Path, jobs: Sequence[Job]) -> pd.DataFrame:
    """The finished jobs' curves, with a row for each number, in the columns `COLUMNS`.

    `kind` is the folder of the run in the results: translation, pretraining or first-updates. `quantity` is the column
    of the number in the run's own table, except that the current learning rate is `rate`, as `learning_rate` is the
    peak.

    Args:
        study: the study.
        results: the folder of all studies' results.
        jobs: the study's jobs whose curves are wanted.

    Raises:
        PrelnError: if none of the jobs is finished, or a record cannot be used.
    """
    tables: list[pd.DataFrame] = []
    for kind in KINDS.values():
        if kind.curves:
            shown = [job for job in jobs if job.kind == kind.name]
            tables.append(_long(shown, kind.curves(study, shown, results)))
    table = pd.concat(tables)
    if table.empty:
        selection = f" for {jobs[0].id}" if len(jobs) == 1 else ""
        raise PrelnError(f"{results / study.study}: no finished curve{selection}; preln status shows the progress")
    return table.astype({"update": "int64", "epoch": "Int64"})


def _long(jobs: Sequence[Any], curves: pd.DataFrame) -> pd.DataFrame:
    """Melt the curves of one kind of run, with a row for each epoch or update, into a row for each number."""
    named = curves.rename(columns={"updates": "update", "learning_rate": "rate"})
    long = named.reindex(columns=list(dict.fromkeys([*_AT, *named.columns])))
    long = long.melt(_AT, var_name="quantity").dropna(subset=["value"])
    settings = [
        {"kind": job.kind, "run": job.id, **{name: getattr(job.settings, name, None) for name in SETTINGS}}
        for job in jobs
    ]
    return pd.DataFrame(settings, columns=["kind", "run", *SETTINGS]).merge(long, on="run")[COLUMNS]


def to_csv(curves: pd.DataFrame, out: Path) -> None:
    """Write the curves as one table, and replace an existing file.

    Raises:
        PrelnError: if `out` is a folder, or does not end in .csv.
    """
    if out.suffix != ".csv":
        raise PrelnError(f"{out}: not a CSV file; name a file that ends in .csv")
    if out.is_dir():
        raise PrelnError(f"{out}: is a folder; name a file that ends in .csv")
    with replaced(out) as partial:
        curves.to_csv(partial, index=False, lineterminator="\n")


def to_tensorboard(curves: pd.DataFrame, out: Path) -> None:
    """Write the curves as event files, in a folder for each run, with the quantities as tags over updates.

    An event's time is the training's, in seconds since its beginning, if recorded.

    Args:
        curves: in the columns `COLUMNS`.
        out: the new folder.

    Raises:
        PrelnError: if `out` exists.
    """
    from tensorboard.summary import Writer

    with new_folder(out) as folder:
        for (kind, run), curve in curves.groupby(["kind", "run"], sort=False):
            seconds = curve[curve["quantity"] == "seconds"].set_index("update")["value"].cumsum()
            writer = Writer(str(folder / str(kind) / str(run)))
            for quantity, update, value in zip(curve["quantity"], curve["update"], curve["value"], strict=True):
                writer.add_scalar(quantity, value, update, wall_time=float(seconds.get(update, 0.0)))
            writer.close()
