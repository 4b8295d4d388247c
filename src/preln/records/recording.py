"""The records that a finished job leaves: run.json, which says what they are of, with a checksum of itself and of each
file beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.errors import PrelnError
from preln.records import packed
from preln.records.files import json_text, sealed, sha256, unsealed, write_json

if TYPE_CHECKING:
    from pandas import DataFrame

RUN = packed.RUN
METRICS = "metrics.json"
FILES = "files"
"""The key of run.json under which the SHA-256 of the files beside it are."""
FORM = "record_version"
"""The key of run.json under which the number of its form is; it is 1 where there is none."""
NEWEST_FORM = 1
"""Raised when an older version of this package would misread a record."""
AGAIN = (
    "restore it, for example by git checkout, or remove it and run the workflow again, which goes on from state/ "
    "beside it, or begins anew where there is none"
)


class RecordError(PrelnError):
    """A record that cannot be used; the message names the file and what is wrong with it."""


def write(folder: Path, record: dict[str, Any], tables: Iterable[str], metrics: dict[str, Any] | None = None) -> None:
    """Write run.json, with the checksums of the tables, which are written already, and then metrics.json, if there are
    any: it comes last, for a run with metrics counts as done."""
    files = {name: sha256(folder / name) for name in tables}
    if metrics is not None:
        files[METRICS] = hashlib.sha256(json_text(metrics).encode()).hexdigest()
    write_json(folder / RUN, sealed({**record, FORM: NEWEST_FORM, FILES: files}))
    if metrics is not None:
        write_json(folder / METRICS, metrics)


def rows(table: DataFrame) -> list[dict[str, Any]]:
    """The rows of a table for JSON: numbers to the last digit, which pandas' own JSON cuts, and None for what is
    missing."""
    values = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    return [{str(name): value for name, value in row.items()} for row in values]


def read(path: Path) -> dict[str, Any]:
    """The record in a JSON file; of a run.json, the checksums of the files beside it are checked too.

    Raises:
        RecordError: if there is none, a file is not as it was written, or a newer version of this package wrote it.
    """
    try:
        content = packed.read_bytes(path)
        record = json.loads(content)
    except OSError as error:
        raise RecordError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}: not JSON ({error}); {AGAIN}") from None
    if not isinstance(record, dict):
        raise RecordError(f"{path}: holds no record; {AGAIN}")
    if damaged := _damaged(path, content, record):
        raise RecordError(f"{damaged}: damaged: its checksum is another, or it has none; {AGAIN}")
    if isinstance(form := record.get(FORM, NEWEST_FORM), int) and form > NEWEST_FORM:
        raise RecordError(
            f"{path}: a newer preln wrote it (form {form}; this one reads up to {NEWEST_FORM}); update preln, or "
            f"{AGAIN}"
        )
    return record


def read_metrics(folder: Path) -> dict[str, Any]:
    """metrics.json of a run's folder, as its run.json says that it is. It raises what `read` raises."""
    if packed.exists(folder / RUN):
        read(folder / RUN)
    return read(folder / METRICS)


def damaged_beside(path: Path) -> Path | None:
    """The first file that is not as a run.json, the file `path`, says: itself, or one beside it. None if there is
    none."""
    try:
        content = packed.read_bytes(path)
        record = json.loads(content)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        return path
    return _damaged(path, content, record) if isinstance(record, dict) else path


def _damaged(path: Path, content: bytes, record: dict[str, Any]) -> Path | None:
    """The first file that is not as it was written, of a run.json with this content and value; the other files have
    their checksums there."""
    if path.name != RUN:
        return None
    if unsealed(content) is None:
        return path
    beside = {path.parent / name: checksum for name, checksum in record.get(FILES, {}).items()}
    existing = ((file, packed.read_bytes(file), checksum) for file, checksum in beside.items() if packed.exists(file))
    return next((file for file, written, checksum in existing if hashlib.sha256(written).hexdigest() != checksum), None)
