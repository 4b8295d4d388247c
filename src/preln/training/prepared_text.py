"""Checks of prepared texts before they are used. The files of a stage that is read must be as they were prepared, or
`Damaged` is raised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from preln.errors import PrelnError
from preln.records.files import require_stage
from preln.records.recording import read_or_nothing


def record(prepared: Path) -> dict[str, Any]:
    """The record of a prepared parallel or English text: settings, counts and checksums, and under `warnings` what the
    preparation of text and pieces noted."""
    parallel, english = (prepared / "text" / name for name in ("corpus.json", "text.json"))
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
    digest that names the run's state."""
    require_stage(prepared / "text", lambda name: not name.startswith("train."))
    require_stage(prepared / "bpe", {"bpe.model"}.__contains__)
    require_stage(prepared / "binary")


def require_english(prepared: Path) -> None:
    """Check the files of a prepared text that a pre-training reads."""
    _require_named(prepared)
    require_stage(prepared / "binary")


def require_task(prepared: Path, task: Path) -> None:
    """Check the files that a fine-tuning reads: the task, and those of the text that name the pre-training's state."""
    _require_named(prepared)
    require_stage(prepared / "binary", {"dict.txt"}.__contains__)
    require_stage(task / "pieces", {"task.json"}.__contains__)
    require_stage(task / "binary")


def _require_named(prepared: Path) -> None:
    """Check the files of an English text in the digest that names a run's state."""
    require_stage(prepared / "text", {"text.json"}.__contains__)
    require_stage(prepared / "bpe", {"bpe.model"}.__contains__)
