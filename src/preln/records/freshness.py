"""Whether records still are what a study asks for, by what they say and not by their age: of the same settings and of
the same text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from preln.records.recording import RUN


def is_current(outputs: Iterable[Path], identity: dict[str, Any]) -> bool:
    """Whether a job's records, of which one is run.json, are all there and of what has the identity now."""
    paths = list(outputs)
    if not all(path.exists() for path in paths):
        return False
    record = read_or_nothing(next(path for path in paths if path.name == RUN))
    return is_of(record, identity)


def is_of(record: dict[str, Any], identity: dict[str, Any]) -> bool:
    """Whether a record, a run.json, is of what has the identity now."""
    return bool(record.get("identity") == json.loads(json.dumps(identity)))


def is_of_text(run: Path, text: Path, sources: Iterable[Path]) -> bool:
    """Whether the record of a training or a measurement (`run`, its run.json) is of the text whose record is `text`,
    and this one of the sources as they are."""
    if not text.exists() or any(source.stat().st_mtime > text.stat().st_mtime for source in sources):
        return False
    record = read_or_nothing(run)
    return checksums(record.get("corpus") or record.get("text") or {}) == checksums(read_or_nothing(text))


def checksums(text: dict[str, Any]) -> dict[str, str]:
    """The SHA-256 of each file of a prepared text, parallel or English, by its name, as the text's record has them."""
    if "sha256" in text:
        return dict(text["sha256"])
    files = (part["files"] for part in text.get("parts", {}).values())
    return {name: file["sha256"] for of_part in files for name, file in of_part.items()}


def read_or_nothing(path: Path) -> dict[str, Any]:
    """A record; empty where it is damaged, so that it is of nothing."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
