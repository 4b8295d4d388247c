"""One stage of a prepared text (text/, bpe/, binary/, pieces/): seen to be as it was prepared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from preln.errors import PrelnError
from preln.records.files import MANIFEST, manifest, sha256


class TextDamaged(PrelnError):
    """A prepared text that is not as it was prepared."""


def require_stage(stage: Path, is_used: Callable[[str], bool] = lambda name: True) -> None:
    """See that the files of a stage that are used are as they were prepared, before anything is made of them.

    Raises:
        TextDamaged: if one is not, or the stage is not there.
    """
    if not stage.exists():
        raise TextDamaged(f"{stage}: not there; {stage.parent} is not the folder of a prepared text")
    listed = manifest(stage) or {MANIFEST: ""}
    for name, checksum in listed.items():
        file = stage / name
        if (is_used(name) or name == MANIFEST) and not (file.is_file() and sha256(file) == checksum):
            raise TextDamaged(
                f"{file}: damaged or not there; remove {stage.parent} and run the workflow again, which prepares the "
                "text anew"
            )
