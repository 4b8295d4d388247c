"""Prepared texts: seen to be as they were prepared before anything is computed from them. What fairseq reads is made
again from the pieces where it is damaged."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from preln.errors import PrelnError
from preln.libraries import filelock
from preln.records.files import MANIFEST, manifest
from preln.records.prepared_stage import (
    RECORDS,
    TextDamaged,
    any_file,
    damaged_files,
    has_checksum,
    require_files,
    require_stage,
)

AGAIN = ".binary-again"
LOCK = ".lock"

logger = logging.getLogger(__name__)


def record(prepared: Path) -> dict[str, Any]:
    """What was prepared, as the record of a parallel or an English text says: settings, counts and checksums."""
    parallel, english = (prepared / "text" / name for name in RECORDS)
    path = english if english.exists() else parallel
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def require_stages(prepared: Path, record: str) -> None:
    """See that every stage of a prepared text is there, whose record has the name `record`.

    Raises:
        PrelnError: if one is not.
    """
    missing = [name for name in (f"text/{record}", "bpe/bpe.model", "binary") if not (prepared / name).exists()]
    if missing:
        raise PrelnError(
            f"{prepared}: no prepared text of the run, for {missing[0]} is not in it; run this in the folder in which "
            "the study was trained, or name the prepared text with --prepared"
        )


def require_parallel(prepared: Path) -> None:
    """See that what a translation model reads of a prepared corpus is as it was prepared: binary/, the references, and
    what the run's state is named after.

    Raises:
        TextDamaged: if it is not, and cannot be made again from its pieces.
    """
    from preln.fairseq_plugin.binarise import binarise

    require_files(prepared / "text", lambda name: not name.startswith("train."))
    require_stage(prepared / "bpe", {"bpe.model"}.__contains__)

    def again(out: Path) -> None:
        languages = record(prepared)["languages"]
        binarise(prepared / "bpe", languages["source"], languages["target"], out)

    _mend(prepared, prepared / "bpe", again, any_file)


def require_english(prepared: Path) -> None:
    """See that what a pre-training reads of a prepared text is as it was prepared.

    Raises:
        TextDamaged: as `require_parallel`.
    """
    _require_names(prepared)
    _mend_english(prepared, any_file)


def require_task(prepared: Path, task: Path) -> None:
    """See that what a fine-tuning reads is as it was prepared: the task, and of the text what the pre-training's state
    is named after.

    Raises:
        TextDamaged: as `require_parallel`.
    """
    from preln.fairseq_plugin.binarise import binarise_task

    _require_names(prepared)
    dictionary = prepared / "binary" / "dict.txt"
    # The text itself is not read: one without a manifest is not made again for its dictionary.
    if (dictionary.parent / MANIFEST).exists():
        _mend_english(prepared, {dictionary.name}.__contains__)
    require_stage(task / "pieces", {"task.json"}.__contains__)
    _mend(task, task / "pieces", lambda out: binarise_task(task / "pieces", dictionary, out), any_file)


def _require_names(prepared: Path) -> None:
    """See that a prepared text's record and its BPE model are as they were."""
    require_files(prepared / "text", {"text.json"}.__contains__)
    require_stage(prepared / "bpe", {"bpe.model"}.__contains__)


def _mend_english(prepared: Path, is_used: Callable[[str], bool]) -> None:
    from preln.fairseq_plugin.binarise import binarise_english

    _mend(prepared, prepared / "bpe", lambda out: binarise_english(prepared / "bpe", out), is_used)


def _mend(prepared: Path, pieces: Path, binarise: Callable[[Path], None], is_used: Callable[[str], bool]) -> None:
    """See that what fairseq reads of a text is as it was prepared; where it is not, it is made again from the pieces.

    Args:
        prepared: the folder of the text, with binary/.
        pieces: the folder of its pieces.
        binarise: makes binary/ of them, in the folder that it is given.
        is_used: which of its files are read.

    Raises:
        TextDamaged: if the pieces are damaged too.
    """
    binary = prepared / "binary"
    if not (damaged := damaged_files(binary, is_used)):
        return
    if not (binary / MANIFEST).exists() and not (pieces.exists() and os.access(prepared, os.W_OK)):
        logger.warning("%s: used as it is, for it was prepared without checksums and cannot be made again", binary)
        return
    if not os.access(prepared, os.W_OK):
        raise TextDamaged(
            f"{binary / damaged[0]}: damaged or not there, and {prepared} cannot be written to, so it is not made "
            "again; make the folder writable and run the same command"
        )
    logger.warning("%s: %s is damaged or not there; it is made again from %s", binary, damaged[0], pieces)
    # Several jobs may find the same; all but the first then wait, and find it made.
    with filelock.FileLock(prepared / LOCK):
        if not damaged_files(binary, is_used):
            return
        require_stage(pieces)
        made, before = prepared / AGAIN, manifest(binary)
        binarise(made)
        anew = manifest(made) or {}
        if before not in (None, anew):
            raise TextDamaged(
                f"{pieces}: damaged, for {binary} was made of other pieces; remove {prepared} and run the workflow "
                "again, which prepares the text anew"
            )
        # File by file: the folder stays the one that Snakemake knows.
        for name, checksum in anew.items():
            if not has_checksum(path := binary / name, checksum):
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(made / name, path)
        os.replace(made / MANIFEST, binary / MANIFEST)
        shutil.rmtree(made)
