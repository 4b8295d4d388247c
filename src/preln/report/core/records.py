"""Checks of records of every kind, that they are of the study's settings and of one text; and their origin."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from preln.libraries import pd
from preln.records import packed, recording
from preln.records.record import checksums
from preln.records.recording import RecordError


class Texts:
    """The texts that records are of, which are the same for all that name the same one in the study; `kind` is the key
    under which a record has its own."""

    def __init__(self, kind: Literal["corpus", "text"]) -> None:
        self._kind = kind
        self._first: dict[str, tuple[str, dict[str, str]]] = {}

    def require_same(self, name: str, record: dict[str, Any], folder: Path) -> None:
        """See that a record is of the text that the others of this name are of; `folder` is where it is.

        Raises:
            RecordError: with the files of the text that differ.
        """
        text = checksums(record.get(self._kind, {}))
        job, first = self._first.setdefault(name, (folder.name, text))
        if different := sorted(file for file in {**first, **text} if first.get(file) != text.get(file)):
            raise RecordError(
                f"{folder / recording.RUN}: is of another text than {job} ({', '.join(different)} of {self._kind} "
                f"{name} differ); run one of the two again"
            )


def own(folder: Path, identity: dict[str, Any]) -> dict[str, Any]:
    """The run.json of a folder, after a check that it is of what the study says now.

    Raises:
        RecordError: if there is none or it is damaged, or with each key that differs, or is in one of them only.
    """
    record = recording.read(folder / recording.RUN)
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
