"""The record of one job: whether it is there, of the study's settings, whole, and of the text that is here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.records import packed
from preln.records.recording import RUN, damaged_beside

if TYPE_CHECKING:
    from preln.jobs.base import Job


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
        """The first file that is not as it was written; None if there is none."""
        return damaged_beside(self.path)

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
    except ValueError:
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
