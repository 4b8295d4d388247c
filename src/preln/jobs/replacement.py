"""The records of a study's folder that the study is about to replace: those of other settings, or of another study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from preln.config.base import listed
from preln.jobs.base import Job
from preln.records import packed
from preln.records.recording import Record, flat

SHOWN = 3
"""Settings of which a message says how they differ."""


def told(jobs: Sequence[Job], results: Path) -> list[str]:
    """The lines that say which records in the folder of a study's results are about to be replaced by its jobs, and how
    to keep them; none where none is."""
    records = [Record(job, results / job.folder) for job in jobs]
    other = [record for record in records if packed.exists(record.path) and record.is_of_other_settings]
    folders = {job.folder for job in jobs}
    # Records in a folder of their own stay there.
    dropped = [
        path.parent.relative_to(results).as_posix()
        for path in packed.recorded(results)
        if not path.exists() and path.parent.relative_to(results).as_posix() not in folders
    ]
    keep = f"To keep both, give the study another name (`study:`), or move {results}."
    lines = []
    if other:
        first = other[0]
        difference = _difference(first.content["identity"], first.job.identity)
        lines.append(
            f"Records in {results} that are of other settings, and will be replaced: {len(other)}, such as "
            f"{first.job.folder} ({difference}). {keep}"
        )
    if dropped:
        lost = listed(dropped, SHOWN)
        lines.append(f"Records in {results} of jobs that the study does not have, and will be lost: {lost}. {keep}")
    return lines


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    then, current = flat(before), flat(now)
    keys = [key for key in {**then, **current} if then.get(key) != current.get(key)]
    return listed([f"{key}: {then.get(key)}, now {current.get(key)}" for key in keys], SHOWN)
