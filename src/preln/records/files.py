"""Files and folders that appear whole or not at all: written beside, flushed to the disk, then renamed. What numbers
depend on has a checksum: each line of a record, each mark in a state, and each file of a prepared folder."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from preln.errors import PrelnError

SEAL = "sha256"
"""The key of a value's checksum: the SHA-256 of its other keys."""
MANIFEST = "manifest.json"
"""The file in a folder with the SHA-256 of each of its other files."""
DAMAGED = ".damaged"
"""The suffix of a damaged file that was quarantined."""

OWNER = "state"
"""The key of the name of the state that a sealed value belongs to."""

UNWRITTEN = {
    errno.ENOSPC: "the disk is full: make space",
    errno.EDQUOT: "the disk quota is used up: make space",
    errno.EROFS: "the file system is read-only: make it writable",
}
"""Why nothing can be written, and what to do, by the number of the error."""
FAILED = {
    # macOS has no such number.
    getattr(errno, "EREMOTEIO", errno.EIO): "check the server that it is on",
    errno.EIO: "check the disk, or the server that it is on",
    errno.ESTALE: "its server has replaced it: wait until the mount is back",
    errno.ETIMEDOUT: "its server does not answer: wait until it does",
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "raise the limit of open files (ulimit -n), or close other programs"),
    **dict.fromkeys((errno.EBUSY, errno.ETXTBSY), "another program uses it: end that"),
    errno.EXDEV: "its folder is spread over two file systems: mend the mount or the link",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "change its permissions"),
    errno.EEXIST: "move it away, or name another",
    errno.EISDIR: "move the folder away, or name a file",
    errno.ENOTDIR: "move the file in the place of a folder away, or name another",
    errno.ELOOP: "mend the links",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.ENOMEM: "free memory",
    **dict.fromkeys(
        (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP),
        "its file system has no locks, without which two processes could work on one job: mount it with them (NFS "
        "without nolock, Lustre with flock), or go into another folder",
    ),
}
"""The remedy for a failure of the file system, by the number of the error."""
_EVERYDAY = (errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.EPERM)
"""Errors that programs meet and deal with all the time: one that led to an error of another kind says nothing of it."""


class Damaged(PrelnError):
    """A file that is not as it was written."""


def not_written(error: BaseException | None, where: Path | None = None) -> PrelnError | None:
    """The message on an error, if it, or one that led to it, is a failure of the file system; `where` is named if the
    error names no file. An error of a full or a read-only disk comes before others."""
    failures = [cause for cause in _causes(error) if isinstance(cause, OSError)]
    for cause in sorted(failures, key=lambda failure: failure.errno not in UNWRITTEN):
        named = cause.filename or where
        path = Path(os.fsdecode(named)).absolute() if isinstance(named, str | bytes | os.PathLike) else "a file"
        go_on = "and run the same command, which goes on from what is whole"
        if cause.errno in UNWRITTEN:
            return PrelnError(f"{path}: not written, for {UNWRITTEN[cause.errno]} {go_on}")
        if cause.errno in FAILED and (cause is error or cause.errno not in _EVERYDAY):
            return PrelnError(f"{path}: {cause.strerror}: {FAILED[cause.errno]} {go_on}")
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what led to it, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays: writers that choose a format by it see the one that was asked for.
    partial = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        with _named(path, partial):
            yield partial
            flush(partial)
            os.replace(partial, path)
            flush(path.parent)
    finally:
        # The error that led here names the file that was asked for.
        with suppress(OSError):
            partial.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: Path, *, is_new: bool = False) -> Iterator[Path]:
    """A folder beside `path` to fill; with a manifest of its files it takes the place of `path` when the block ends
    without an error. With `is_new`, nothing may be at `path`.

    Raises:
        PrelnError: with `is_new`, if `path` exists before or after the block.
    """
    _require_none(path, is_new)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    # Left by a killed process that had our PID.
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        with _named(path, partial):
            yield partial
            write_sealed(partial / MANIFEST, {"files": checksums_in(partial)})
            for entry in partial.rglob("*"):
                flush(entry)
            if not is_new and path.exists():
                shutil.rmtree(path)
            # A rename replaces no file and no folder with content that appears after this.
            _require_none(path, is_new)
            partial.rename(path)
            flush(path.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _require_none(path: Path, is_new: bool) -> None:
    if is_new and path.exists():
        raise PrelnError(f"{path}: is there already; name a new folder")


@contextmanager
def _named(path: Path, partial: Path) -> Iterator[None]:
    """Have an error of the file system name `path`, if it names nothing, or what is written in its place."""
    try:
        yield
    except Exception as error:
        for cause in _causes(error):
            if isinstance(cause, OSError) and cause.errno and str(cause.filename) in ("None", str(partial)):
                cause.filename = str(path)
        raise


def flush(path: Path) -> None:
    """See that a file's content, or a folder's entries, are on the disk."""
    with _named(path, path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write a text file, with Unix line ends."""
    with replaced(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """The text of a JSON file, which reads well and is the same for the same value."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write_sealed(path: Path, value: dict[str, Any], owner: str | None = None) -> None:
    """Write a JSON file with a checksum of its content, and with the name of the state that it belongs to, if any."""
    write_json(path, sealed(value, owner))


def read_sealed(path: Path, owner: str | None = None) -> dict[str, Any]:
    """The value of a file that `write_sealed` wrote, without its checksum and its owner.

    Raises:
        Damaged: if it is not as it was written, or belongs to another state.
    """
    value = unsealed(path.read_bytes(), owner)
    if value is None:
        raise Damaged(f"{path}: damaged: its checksum is another{', or it is of another run' if owner else ''}")
    return value


def sealed(value: dict[str, Any], owner: str | None = None) -> dict[str, Any]:
    """A value with its owner, if it has one, and with a checksum of both as its last key."""
    owned = {**value, OWNER: owner} if owner else value
    return {**owned, SEAL: _checksum(owned)}


def unsealed(content: bytes, owner: str | None = None) -> dict[str, Any] | None:
    """The value that was sealed and written as JSON, without its checksum and its owner; None if the content is damaged
    or is another owner's. Values of older versions name none."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if value.pop(SEAL, None) != _checksum(value):
        return None
    return value if owner is None or value.pop(OWNER, owner) == owner else None


def _checksum(value: dict[str, Any]) -> str:
    # As it is read again: JSON has keys of text alone, which sort otherwise than numbers.
    as_read = json.loads(json.dumps(value))
    return hashlib.sha256(json.dumps(as_read, sort_keys=True).encode()).hexdigest()


def append_json(path: Path, value: dict[str, Any], owner: str | None = None) -> None:
    """Append a value as one line of JSON with its owner and a checksum; what was cut off before, by a kill or a full
    disk, is removed."""
    is_new = not path.exists()
    with _named(path, path), open(path, "ab+") as lines:
        lines.seek(0)
        content = lines.read()
        end = content.rfind(b"\n") + 1
        if unsealed(content[end:]) is not None:
            lines.write(b"\n")
        else:
            lines.truncate(end)
        lines.write(_line(value, owner))
        lines.flush()
        os.fsync(lines.fileno())
    if is_new:
        flush(path.parent)


def read_json_lines(path: Path, owner: str | None = None) -> list[dict[str, Any]]:
    """The values of the owner's lines of a file that `append_json` wrote, without those that were cut off or are
    damaged; none if there is no file."""
    return [value for _, value in _lines(path, owner) if value is not None]


def mend_lines(path: Path, owner: str | None = None) -> list[int]:
    """Take the lines that are damaged or another owner's out of a file that `append_json` wrote; the file as it was
    stays beside it.

    Returns:
        Their numbers, counted from 1. An end that was cut off is no damage.
    """
    if damaged := [number for number, value in _lines(path, owner) if value is None]:
        whole = read_json_lines(path, owner)
        shutil.copyfile(path, path.with_name(path.name + DAMAGED))
        write_json_lines(path, whole, owner)
    return damaged


def write_json_lines(path: Path, values: Iterable[dict[str, Any]], owner: str | None = None) -> None:
    """Write a file of lines as `append_json` does one by one."""
    with replaced(path) as partial:
        partial.write_bytes(b"".join(_line(value, owner) for value in values))


def _line(value: dict[str, Any], owner: str | None = None) -> bytes:
    return json.dumps(sealed(value, owner)).encode() + b"\n"


def _lines(path: Path, owner: str | None = None) -> list[tuple[int, dict[str, Any] | None]]:
    """The lines of a file by their numbers, with None for what is damaged or another owner's; without an end that was
    cut off."""
    *lines, end = path.read_bytes().split(b"\n") if path.exists() else [b""]
    values = [(number, unsealed(line, owner)) for number, line in enumerate(lines, start=1)]
    last = unsealed(end, owner)
    return values if last is None else [*values, (len(lines) + 1, last)]


def set_aside(path: Path) -> Path:
    """Rename a damaged file, so that it is no longer used and still there, and return its new path."""
    aside = path.with_name(path.name + DAMAGED)
    path.replace(aside)
    flush(path.parent)
    return aside


def checksums_in(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder and its folders, by its path in it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): sha256(path) for path in files}


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with _named(path, path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest(folder: Path) -> dict[str, str] | None:
    """The SHA-256 that each file of a folder had when `replaced_folder` made it; None if its manifest is damaged or not
    there."""
    path = folder / MANIFEST
    content = unsealed(path.read_bytes()) if path.is_file() else None
    return None if content is None else dict(content["files"])


def require_stage(stage: Path, is_used: Callable[[str], bool] = lambda name: True) -> None:
    """See that the files of a stage of a prepared text (text/, bpe/, binary/, pieces/) that are used are as they were
    prepared, before anything is made of them.

    Raises:
        Damaged: if one is not, or the stage is not there.
    """
    if not stage.exists():
        raise Damaged(f"{stage}: not there; {stage.parent} is not the folder of a prepared text")
    listed = manifest(stage) or {MANIFEST: ""}
    for name, checksum in listed.items():
        file = stage / name
        if (is_used(name) or name == MANIFEST) and not (file.is_file() and sha256(file) == checksum):
            raise Damaged(
                f"{file}: damaged or not there; remove {stage.parent} and run the workflow again, which prepares the "
                "text anew"
            )
