"""The records that a finished job leaves: run.json, which says what they are of, with a checksum of itself and of each
file beside it; and whether they are there, of the study's settings, whole, and of the text that is here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.errors import PrelnError
from preln.records import packed
from preln.records.files import json_text, sealed, sha256, unsealed, write_json

if TYPE_CHECKING:
    from pandas import DataFrame

    from preln.jobs.base import Job

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


@dataclass(frozen=True)
class Record:
    """The files that a job, as the study asks for it now, leaves in its folder or in the file of its study
    (`preln.records.packed`)."""

    job: Job
    folder: Path

    @property
    def path(self) -> Path:
        """The record that says what the others are of."""
        return self.folder / RUN

    @property
    def content(self) -> dict[str, Any]:
        """Its run.json; empty if there is none, or it is damaged."""
        return read_or_nothing(self.path) if packed.exists(self.path) else {}

    @property
    def is_current(self) -> bool:
        """All files are there and of the settings that the study has now."""
        is_whole = all(packed.exists(self.folder / name) for name in self.job.records)
        return is_whole and self.content.get("identity") == as_recorded(self.job.identity)

    @property
    def is_of_other_settings(self) -> bool:
        """The record says that it is of other settings than the study has now."""
        content = self.content
        return "identity" in content and content["identity"] != as_recorded(self.job.identity)

    @property
    def damaged(self) -> Path | None:
        """The first file that is not as run.json says: itself, or one beside it; None if there is none."""
        try:
            content = packed.read_bytes(self.path)
            record = json.loads(content)
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            return self.path
        return _damaged(self.path, content, record) if isinstance(record, dict) else self.path

    def is_of_text(self, text: Path, sources: Iterable[Path]) -> bool:
        """The job has read the prepared text whose record is `text`, and this is made of the sources as they are."""
        if not text.exists() or any(source.stat().st_mtime > text.stat().st_mtime for source in sources):
            return False
        content = self.content
        return checksums(content.get("corpus") or content.get("text") or {}) == checksums(read_or_nothing(text))


def as_recorded(identity: dict[str, Any]) -> Any:
    """An identity as JSON has it."""
    return json.loads(json.dumps(identity))


def checksums(text: dict[str, Any]) -> dict[str, str]:
    """The SHA-256 of each file of a prepared text, parallel or English, by its name, as the text's record has them."""
    if "sha256" in text:
        return dict(text["sha256"])
    files = (part["files"] for part in text.get("parts", {}).values())
    return {name: file["sha256"] for of_part in files for name, file in of_part.items()}


def read_or_nothing(path: Path) -> dict[str, Any]:
    """A record; empty where it is damaged, so that it is of nothing."""
    try:
        content = json.loads(packed.read_bytes(path))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def flat(content: Any, where: str = "") -> dict[str, str]:
    """A nested content as text, by dotted keys."""
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list | tuple):
        items = dict(enumerate(content)).items()
    else:
        return {where: str(content)}
    return {
        key: text
        for name, value in items
        for key, text in flat(value, f"{where}.{name}" if where else str(name)).items()
    }
