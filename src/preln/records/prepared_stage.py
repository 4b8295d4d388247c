"""One stage of a prepared text (text/, bpe/, binary/, pieces/): seen to be as it was prepared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from preln.errors import PrelnError
from preln.records.files import MANIFEST, manifest, sha256
from preln.records.record import checksums, read_or_nothing

RECORDS = ("corpus.json", "text.json")
"""The record of a prepared text in its stage text/: of a parallel one, and of an English one."""


class TextDamaged(PrelnError):
    """A prepared text that is not as it was prepared."""


def require_stage(stage: Path, is_used: Callable[[str], bool] = lambda name: True) -> None:
    """See that the files of a stage that are used are as they were prepared, before anything is made of them. What was
    prepared before there were manifests is taken as it is.

    Raises:
        TextDamaged: if one is not.
    """
    if (stage / MANIFEST).exists():
        require_files(stage, is_used)


def require_files(stage: Path, is_used: Callable[[str], bool] = lambda name: True) -> None:
    """As `require_stage`, but a stage must say what its files were.

    Raises:
        TextDamaged: if a file is not as it was prepared, or that cannot be known.
    """
    if damaged := _damaged_files(stage, is_used):
        if not stage.exists():
            raise TextDamaged(f"{stage}: not there; {stage.parent} is not the folder of a prepared text")
        raise TextDamaged(
            f"{stage / damaged[0]}: damaged or not there; remove {stage.parent} and run the workflow again, which "
            "prepares the text anew"
        )


def _damaged_files(stage: Path, is_used: Callable[[str], bool]) -> list[str]:
    """The files of a stage that are used and not as they were."""
    listed = manifest(stage)
    if listed is None:
        if (stage / MANIFEST).exists() or not (record := _record(stage)):
            return [MANIFEST]
        listed = _recorded(record)
        if not listed:
            return [record.name]
    used = [name for name in listed if is_used(name)]
    return [name for name in used if not (stage / name).is_file() or sha256(stage / name) != listed[name]]


def _recorded(record: Path) -> dict[str, str]:
    """The SHA-256 of the files that a record of a text tells of; empty if it is damaged."""
    try:
        return checksums(read_or_nothing(record))
    except (AttributeError, KeyError, TypeError):
        return {}


def _record(stage: Path) -> Path | None:
    """The record of a stage that was prepared before there were manifests: it has checksums, if it is of text."""
    return next((path for name in RECORDS if (path := stage / name).is_file()), None)
