"""Checks of records of every kind, that they are of the study's settings and of one text; and their origin."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, TypeVar

from preln.config import RunSettings, Study
from preln.jobs.base import Job
from preln.libraries import pd
from preln.records import packed, recording
from preln.records.recording import RecordError, as_recorded, checksums, flat

J = TypeVar("J", bound=Job)


def done(
    study: Study, jobs: Iterable[J], results: Path, last: str = recording.RUN
) -> Iterator[tuple[J, Path, dict[str, Any]]]:
    """The jobs that are done, each with its folder and its run.json: those that have written the file `last`. `results`
    is the folder of the results of all studies.

    Raises:
        RecordError: if a record cannot be read, or was made with other settings than the study's, or on other files of
            a text than the record of another job.
    """
    texts: dict[str, tuple[str, dict[str, str]]] = {}
    for job in jobs:
        folder = results / study.study / job.folder
        if not packed.exists(folder / last):
            continue
        record = own(folder, job.identity)
        # The model of the proofs has no text, and a fine-tuning that of its run.
        if settings := getattr(job, "settings", None):
            kind = "corpus" if isinstance(settings, RunSettings) else "text"
            name, text = getattr(settings, kind), checksums(record.get(kind, {}))
            first, known = texts.setdefault(name, (folder.name, text))
            if different := sorted(file for file in {**known, **text} if known.get(file) != text.get(file)):
                raise RecordError(
                    f"{folder / recording.RUN}: is of another text than {first} ({', '.join(different)} of {kind} "
                    f"{name} differ); run one of the two again"
                )
        yield job, folder, record


def own(folder: Path, identity: dict[str, Any]) -> dict[str, Any]:
    """The run.json of a folder, after a check that it is of what the study says now.

    Raises:
        RecordError: if there is none or it is damaged, or with each key that differs, or is in one of them only.
    """
    record = recording.read(folder / recording.RUN)
    if record.get("identity") == as_recorded(identity):
        return record
    now, then = flat(identity), flat(record.get("identity", {}))
    changed = [
        f"{key} was {then.get(key, 'not there')}, is {now.get(key, 'not there')}"
        for key in {**now, **then}
        if now.get(key) != then.get(key)
    ]
    if changed:
        raise RecordError(f"{folder / recording.RUN}: made with other settings ({'; '.join(changed)}); run it again")
    return record


def table(path: Path, columns: Sequence[str], **options: Any) -> pd.DataFrame:
    """The table in a CSV file of a record, which has these columns, and others perhaps; `options` are those of
    `pandas.read_csv`.

    Raises:
        RecordError: if the file cannot be read, is no table, or is without one of the columns.
    """
    try:
        content: pd.DataFrame = pd.read_csv(io.BytesIO(packed.read_bytes(path)), **options)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror}); {recording.AGAIN}") from None
    except ValueError as error:
        raise RecordError(f"{path}: not a table ({error}); {recording.AGAIN}") from None
    if missing := [name for name in columns if name not in content.columns]:
        raise RecordError(f"{path}: without the columns {', '.join(missing)}; {recording.AGAIN}")
    return content


def having(rows: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Those of a table's rows that have these values, by column; a value may be a column of the same rows."""
    chosen: pd.DataFrame = rows[reduce(and_, (rows[column] == value for column, value in values.items()))]
    return chosen


def hardware_line(hardware: dict[str, Any]) -> str:
    """The hardware of a run in one line: its GPUs, or else its processor."""
    gpus = hardware.get("gpus") or []
    if gpus:
        return f"{len(gpus)} x {gpus[0]}"
    return f"{hardware.get('processor', 'unknown processor')}, {hardware.get('cores_used', '?')} core(s) a run"


def commit_name(record: dict[str, Any]) -> str:
    """The commit of the code that made a record, for readers."""
    return str(record["commit"] or "unknown")


def origin_lines(records: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The origin of records: their commits and their hardware, in a sentence each; nothing where there are none."""
    if not records:
        return ()
    commits = sorted({commit_name(record) for record in records})
    machines = sorted({hardware_line(record["hardware"]) for record in records})
    return f"Commit: {'; '.join(commits)}.", f"Hardware: {'; '.join(machines)}."
