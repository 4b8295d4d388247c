"""Files and folders that appear whole or not at all: written beside, then renamed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays: writers that choose a format by it see the one that was asked for.
    partial = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` to fill; it takes the place of `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.mkdir()
    try:
        yield partial
        if path.exists():
            shutil.rmtree(path)
        partial.rename(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, with Unix line ends."""
    with replaced(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file that reads well and is the same for the same value."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def append_json(path: Path, value: Any) -> None:
    """Append a value as one line of JSON; a line that was cut off before, by a kill or a full disk, stays alone."""
    with open(path, "ab+") as lines:
        if lines.tell():
            lines.seek(-1, os.SEEK_END)
            if lines.read(1) != b"\n":
                lines.write(b"\n")
        lines.write(json.dumps(value).encode() + b"\n")


def read_json_lines(path: Path) -> list[Any]:
    """The values of a file that `append_json` wrote, without lines that were cut off; none if there is no file."""
    values = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            values.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return values
