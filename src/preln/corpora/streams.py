"""Files and archives' members as streams."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, cast

from preln.corpora import CorpusError

MOST_IN_MEMORY = 64 << 20
"""Largest size in bytes of a line or a document; longer ones are refused before they are read."""

BROKEN = (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError)
"""Errors from reading an archive that is cut off, damaged, or compressed in an unknown way."""

_SIGNATURES = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9]1AY&SY"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zip": re.compile(rb"PK\x03\x04"),
    "7z": re.compile(rb"7z\xbc\xaf\x27\x1c"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}

_TAR_OFFSET = 257
"""The place in a tar archive's first header where its signature stands."""

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""Endings of the names of compressed files."""


@contextmanager
def unpacked(path: Path) -> Iterator[BufferedReader]:
    """A file's content, unpacked if it is compressed.

    Raises:
        CorpusError: if it is damaged, or compressed in an unknown way.
    """
    with path.open("rb") as file:
        kind = _compression(file.peek())
        openers: dict[str | None, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
        opener = openers.get(kind)
        broken: tuple[type[Exception], ...] = BROKEN
        if kind == "zstd":
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd

            opener, broken = zstd.open, (*BROKEN, zstd.ZstdError)
        try:
            yield BufferedReader(opener(file)) if opener else file
        except broken as error:
            if not opener:
                raise
            raise CorpusError(f"{path}: cannot be unpacked ({error}); is it whole?") from None


def require_text(head: bytes, name: object) -> None:
    """Check that the beginning of a file or member is neither compressed, nor an archive, nor UTF-16.

    Raises:
        CorpusError: if it is.
    """
    if kind := _compression(head):
        raise CorpusError(f"{name}: compressed by {kind}, it should be text in UTF-8; unpack it first")
    if head[_TAR_OFFSET:].startswith(b"ustar"):
        raise CorpusError(f"{name}: a tar archive, it should be text in UTF-8; unpack it first")
    # In UTF-16, European letters have a zero in one of two bytes.
    zeros = [head[parity::2].count(0) for parity in (0, 1)]
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if marked or (max(zeros) > len(head) / 4 and min(zeros) * 10 < max(zeros)):
        code = "UTF-16" if marked else "UTF-16BE" if zeros[0] > zeros[1] else "UTF-16LE"
        raise CorpusError(
            f"{name}: seems to be {code}, it should be UTF-8; convert it, for example with iconv -f {code} -t UTF-8"
        )


def _compression(head: bytes) -> str | None:
    return next((kind for kind, signature in _SIGNATURES.items() if signature.match(head)), None)


def members(archive: Path, wanted: Callable[[str], bool]) -> Generator[tuple[str, BufferedReader], None, None]:
    """The wanted members of a zip or tar archive, in order. A member can be read until the next one is requested.
    Nothing is unpacked to disk.

    Raises:
        CorpusError: if the archive is damaged, or a wanted member is encrypted or a link.
    """
    try:
        for name, file in _of_zip(archive, wanted) if archive.suffix.lower() == ".zip" else _of_tar(archive, wanted):
            if file is None:
                raise CorpusError(f"{archive}: {name} is a link; unpack the archive, and give what was in it")
            with file:
                yield name, file
    except BROKEN as error:
        raise CorpusError(f"{archive}: cannot be read as an archive ({error}); is it whole?") from None
    except RuntimeError as error:  # an encrypted member
        raise CorpusError(f"{archive}: {error}; unpack the archive, and give what was in it") from None


@contextmanager
def member(archive: Path, name: str) -> Iterator[BufferedReader]:
    """A member of an archive by its name, in any of its folders; the rest of the archive is not read.

    Raises:
        CorpusError: as `members`, if reading it fails, or if there is no such member.
    """
    try:
        with closing(members(archive, lambda path: path == name or path.endswith(f"/{name}"))) as matches:
            for _, file in matches:
                yield file
                return
    except BROKEN as error:
        raise CorpusError(f"{archive}: {name} cannot be read ({error}); download it again") from None
    raise CorpusError(f"{archive}: lacks {name}; download it again")


def _of_zip(archive: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, BufferedReader | None]]:
    """The wanted members by name; None for a link."""
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if wanted(info.filename) and not info.is_dir():
                is_link = stat.S_ISLNK(info.external_attr >> 16)
                yield info.filename, None if is_link else BufferedReader(cast(RawIOBase, opened.open(info)))


def _of_tar(archive: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, BufferedReader | None]]:
    """The wanted members by name; None for a link."""
    with tarfile.open(archive) as tar:
        for member in tar:
            # tarfile's list of millions of members would fill the memory.
            tar.members = []  # type: ignore[attr-defined]
            if wanted(member.name) and not member.isdir():
                yield member.name, cast(BufferedReader, tar.extractfile(member)) if member.isfile() else None
