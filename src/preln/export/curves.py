"""A study's curves for other software: one long table, and TensorBoard's event files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.errors import PrelnError
from preln.jobs.base import Job
from preln.jobs.kinds import KINDS, jobs_of
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.records import packed
from preln.records.files import replaced, replaced_folder
from preln.records.recording import METRICS, read

SETTINGS = ["placement", "optimizer", "learning_rate", "warmup", "seed"]
"""The columns with a run's settings that every table has; a pre-training has no `optimizer`."""

_NAMES = ["kind", "run", "status"]
_AT = ["run", "update", "epoch"]
_NUMBER = ["update", "epoch", "quantity", "value"]


def load(study: Study, results: Path, jobs: Sequence[Job]) -> pd.DataFrame:
    """The finished jobs' curves, with a row for each number.

    The columns are `kind`, `run`, `status`, the `SETTINGS`, every other setting that differs in the study, `update`,
    `epoch`, `quantity` and `value`. `kind` is the folder of the run in the results: translation, pretraining, language
    or first-updates. `status` is `finished` or `diverged`. `quantity` is the column of the number in the run's own
    table, except that the current learning rate is `rate`, as `learning_rate` is the peak.

    A curve of a run that diverged ends, at the update at which it did, with losses that are infinite and with BLEU and
    chrF of zero, so that no mean is the better for a run that failed. One that diverged before its first validation has
    no other rows. `results` is the folder of all studies' results.

    Raises:
        PrelnError: if none of the jobs is finished, or a record cannot be used.
    """
    settings = [*SETTINGS, *_differing(study)]
    tables: list[pd.DataFrame] = []
    for kind in KINDS.values():
        if kind.curves:
            shown = [job for job in jobs if job.kind == kind.name]
            curves = kind.curves(study, shown, results)
            tables.append(_long(shown, curves, results / study.study, settings))
    table = pd.concat(tables)
    if table.empty:
        selection = f" for {jobs[0].id}" if len(jobs) == 1 else ""
        raise PrelnError(f"{results / study.study}: no finished curve{selection}; preln status shows the progress")
    table[settings] = table[settings].apply(_of_one_type)
    return table.astype({"update": "int64", "epoch": "Int64"})


def _differing(study: Study) -> list[str]:
    """The settings, beside those that every table has, in which two jobs of one kind differ."""
    values: dict[tuple[str, str], set[str]] = {}
    for job in jobs_of(study):
        if KINDS[job.kind].curves:
            for name, value in _settings(job).items():
                values.setdefault((job.kind, name), set()).add(json.dumps(value))
    names = (name for (_, name), different in values.items() if len(different) > 1)
    return [name for name in dict.fromkeys(names) if name not in SETTINGS]


def _settings(job: Any) -> dict[str, Any]:
    return {**job.settings.model_dump(mode="json"), "placement": PLACEMENTS[job.settings.placement].name}


def _of_one_type(column: pd.Series[Any]) -> pd.Series[Any]:
    """A setting's values as numbers, as truth values, or all of them as text, for a column of Parquet has one type."""
    types = set(column.dropna().map(type))
    if types <= {int, float} or types == {bool}:
        return column
    return column.map(lambda value: value if isinstance(value, str) else json.dumps(value), na_action="ignore")


def _long(jobs: Sequence[Any], curves: pd.DataFrame, results: Path, settings: list[str]) -> pd.DataFrame:
    """Melt the curves of one kind of run, with a row for each epoch or update, into a row for each number, and end
    those that diverged."""
    named = curves.rename(columns={"updates": "update", "learning_rate": "rate"})
    long = named.reindex(columns=list(dict.fromkeys([*_AT, *named.columns])))
    quantities = [name for name in long.columns if name not in _AT and ("chrf" not in name or long[name].notna().any())]
    long = long.melt(_AT, quantities, var_name="quantity").dropna(subset=["value"])
    endings = {job.id: ending for job in jobs if (ending := _ending(job, results / job.folder))}
    failures = [
        {"run": run, "update": update, "quantity": quantity, "value": math.inf if "loss" in quantity else 0.0}
        for run, (status, update) in endings.items()
        if status == "diverged"
        for quantity in quantities
        if quantity.endswith(("loss", "bleu", "chrf"))
    ]
    if failures:
        # A trace has recorded the update at which it diverged.
        long = pd.concat([long.astype({"value": float}), pd.DataFrame(failures)]).drop_duplicates(
            ["run", "update", "quantity"]
        )
    rows = [
        {"kind": job.kind, "run": job.id, "status": endings[job.id][0], **_settings(job)}
        for job in jobs
        if job.id in endings
    ]
    named_runs = pd.DataFrame(rows, columns=[*_NAMES, *settings])
    return named_runs.merge(long, on="run")[[*_NAMES, *settings, *_NUMBER]]


def _ending(job: Job, folder: Path) -> tuple[str, int] | None:
    """The status of a job that is done, and its last update: that at which it diverged, if it did."""
    path = folder / (METRICS if METRICS in job.records else job.records[0])
    if not packed.exists(path):
        return None
    record = read(path)
    return record["status"], (record.get("diverged") or {}).get("update", record["updates"])


def to_csv(curves: pd.DataFrame, out: Path) -> None:
    """Write the curves as one table, and replace an existing file."""
    _write(out, ".csv", lambda partial: curves.to_csv(partial, index=False, lineterminator="\n"))


def to_parquet(curves: pd.DataFrame, out: Path) -> None:
    """Write the curves as one table of Apache Parquet, in which numbers keep their types, and replace an existing
    file."""
    # pandas would not say which of its two libraries to install.
    import pyarrow  # noqa: F401

    _write(out, ".parquet", lambda partial: curves.to_parquet(partial, engine="pyarrow", index=False))


def _write(out: Path, ending: str, write: Callable[[Path], None]) -> None:
    """Raises PrelnError if `out` is a folder, or has another ending."""
    if out.suffix != ending:
        raise PrelnError(f"{out}: not a {ending.removeprefix('.').upper()} file; name a file that ends in {ending}")
    if out.is_dir():
        raise PrelnError(f"{out}: is a folder; name a file that ends in {ending}")
    with replaced(out) as partial:
        write(partial)


def to_tensorboard(curves: pd.DataFrame, out: Path) -> None:
    """Write the curves as event files to a new folder, in one for each run, with the quantities as tags over updates.

    An event's time is the training's, in seconds since its beginning, if recorded. TensorBoard marks an infinite loss.

    Raises:
        PrelnError: if `out` exists.
    """
    from tensorboard.summary import Writer

    with replaced_folder(out, is_new=True) as folder:
        for (kind, run), curve in curves.groupby(["kind", "run"], sort=False):
            seconds = curve[curve["quantity"] == "seconds"].set_index("update")["value"].cumsum()
            writer = Writer(str(folder / str(kind) / str(run)))
            for quantity, update, value in zip(curve["quantity"], curve["update"], curve["value"], strict=True):
                writer.add_scalar(quantity, value, update, wall_time=float(seconds.get(update, 0.0)))
            writer.close()
