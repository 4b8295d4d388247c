"""Checks of prepared texts before they are used. A damaged binary text, which fairseq reads, is binarised again."""

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
from preln.records.record import read_or_nothing

NEW_BINARY = ".binary-again"
LOCK = ".lock"

logger = logging.getLogger(__name__)


def record(prepared: Path) -> dict[str, Any]:
    """The record of a prepared parallel or English text: settings, counts and checksums, and under `warnings` what the
    preparation of text and pieces noted."""
    parallel, english = (prepared / "text" / name for name in RECORDS)
    path = english if english.exists() else parallel
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    pieces = prepared / "bpe" / "bpe.json"
    warnings = [*values.get("warnings", []), *(read_or_nothing(pieces).get("warnings", []) if pieces.exists() else [])]
    return values | ({"warnings": warnings} if warnings else {})


def require_stages(prepared: Path, record: str) -> None:
    """Check that every stage of a prepared text, whose record is named `record`, exists.

    Raises:
        PrelnError: if a stage is missing.
    """
    missing = [name for name in (f"text/{record}", "bpe/bpe.model", "binary") if not (prepared / name).exists()]
    if missing:
        raise PrelnError(
            f"{prepared}: not a prepared text: {missing[0]} is missing; run this in the folder in which the study was "
            "trained, or name the prepared text with --prepared"
        )


def require_parallel(prepared: Path) -> None:
    """Check the files of a prepared corpus that a translation run reads: binary/, the references, and the files in the
    digest that names the run's state.

    Raises:
        TextDamaged: if one is damaged and cannot be binarised again.
    """
    from preln.fairseq_plugin.binarise import binarise

    require_files(prepared / "text", lambda name: not name.startswith("train."))
    require_stage(prepared / "bpe", {"bpe.model"}.__contains__)

    def binarise_again(out: Path) -> None:
        languages = record(prepared)["languages"]
        binarise(prepared / "bpe", languages["source"], languages["target"], out)

    _mend(prepared, prepared / "bpe", binarise_again, any_file)


def require_english(prepared: Path) -> None:
    """Check the files of a prepared text that a pre-training reads.

    Raises:
        TextDamaged: as in `require_parallel`.
    """
    _require_names(prepared)
    _mend_english(prepared, any_file)


def require_task(prepared: Path, task: Path) -> None:
    """Check the files that a fine-tuning reads: the task, and the text's files in the digest that names the
    pre-training's state.

    Raises:
        TextDamaged: as in `require_parallel`.
    """
    from preln.fairseq_plugin.binarise import binarise_task

    _require_names(prepared)
    dictionary = prepared / "binary" / "dict.txt"
    # The text itself is not read, so a text without a manifest is not binarised again for its dictionary.
    if (dictionary.parent / MANIFEST).exists():
        _mend_english(prepared, {dictionary.name}.__contains__)
    require_stage(task / "pieces", {"task.json"}.__contains__)
    _mend(task, task / "pieces", lambda out: binarise_task(task / "pieces", dictionary, out), any_file)


def _require_names(prepared: Path) -> None:
    """Check a prepared text's record and BPE model."""
    require_files(prepared / "text", {"text.json"}.__contains__)
    require_stage(prepared / "bpe", {"bpe.model"}.__contains__)


def _mend_english(prepared: Path, is_used: Callable[[str], bool]) -> None:
    from preln.fairseq_plugin.binarise import binarise_english

    _mend(prepared, prepared / "bpe", lambda out: binarise_english(prepared / "bpe", out), is_used)


def _mend(prepared: Path, pieces: Path, binarise: Callable[[Path], None], is_used: Callable[[str], bool]) -> None:
    """Check a binary text, and binarise the pieces again where it is damaged.

    Args:
        prepared: the folder of the text, with binary/.
        pieces: the folder of its pieces.
        binarise: writes the binary text to the folder it is given.
        is_used: whether a file of binary/, by name, is read.

    Raises:
        TextDamaged: if the pieces are damaged too.
    """
    binary = prepared / "binary"
    if not (damaged := damaged_files(binary, is_used)):
        return
    if not (binary / MANIFEST).exists() and not (pieces.exists() and os.access(prepared, os.W_OK)):
        logger.warning("%s: not checked: it was prepared without checksums and cannot be binarised again", binary)
        return
    if not os.access(prepared, os.W_OK):
        raise TextDamaged(
            f"{binary / damaged[0]}: damaged or missing, and {prepared} is not writable; make the folder writable and "
            "run the same command, which binarises the text again"
        )
    logger.warning("%s: %s is damaged or missing; binarising again from %s", binary, damaged[0], pieces)
    # Of several jobs that get here, all but the first wait, and find the damage repaired.
    with filelock.FileLock(prepared / LOCK):
        if not damaged_files(binary, is_used):
            return
        require_stage(pieces)
        new_binary, before = prepared / NEW_BINARY, manifest(binary)
        binarise(new_binary)
        after = manifest(new_binary) or {}
        if before not in (None, after):
            raise TextDamaged(
                f"{pieces}: damaged: {binary} was made from other pieces; remove {prepared} and run the workflow again "
                "to prepare the text"
            )
        # File by file, so that the folder stays the one that Snakemake knows.
        for name, checksum in after.items():
            if not has_checksum(path := binary / name, checksum):
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(new_binary / name, path)
        os.replace(new_binary / MANIFEST, binary / MANIFEST)
        shutil.rmtree(new_binary)
