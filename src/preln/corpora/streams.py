"""Files and archives' members as streams, with at most `MOST_IN_MEMORY` bytes in memory at a time."""

from __future__ import annotations

import bz2
import gzip
import logging
import lzma
import posixpath
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from preln.corpora import CorpusError

MOST_IN_MEMORY = 64 << 20
"""Largest size in bytes of a line, a document or an archive's header; longer ones are refused before they are read."""

MOST_EXPANSION = 100
"""Largest size of a text relative to its archive. Compressed text expands to 3 to 10 times its size."""

BROKEN = (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError)
"""Errors from reading an archive that is cut off, damaged, or compressed in an unknown way."""

logger = logging.getLogger(__name__)

_SIGNATURES = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9]1AY&SY"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zip": re.compile(rb"PK\x03\x04"),
    "7z": re.compile(rb"7z\xbc\xaf\x27\x1c"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
_OPENERS: dict[str | None, Callable[[IO[bytes]], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}


@contextmanager
def unpacked(path: Path) -> Iterator[BufferedReader]:
    """A file's content, unpacked if it is compressed.

    Raises:
        CorpusError: if it is damaged, or compressed in an unknown way.
    """
    with path.open("rb") as file:
        kind = _compression(file.peek())
        opener = _OPENERS.get(kind)
        broken: tuple[type[Exception], ...] = BROKEN
        if kind == "zstd":
            from backports import zstd

            opener, broken = zstd.open, (*BROKEN, zstd.ZstdError)
        try:
            yield BufferedReader(opener(file)) if opener else file
        except broken as error:
            if not opener:
                raise
            raise CorpusError(f"{path}: cannot be unpacked ({error}); is it whole?") from None


def size(count: int) -> str:
    """A number of bytes in MiB."""
    return f"{count / (1 << 20):,.0f} MiB"


def require_text(head: bytes, name: object) -> None:
    """Check that the beginning of a file or member is neither compressed nor UTF-16.

    Raises:
        CorpusError: if it is.
    """
    if kind := _compression(head):
        raise CorpusError(f"{name}: compressed by {kind}, it should be text in UTF-8; unpack it first")
    # In UTF-16, European letters have a zero in one of two bytes.
    zeros = [head[parity::2].count(0) for parity in (0, 1)]
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if marked or (max(zeros) > len(head) / 4 and min(zeros) * 10 < max(zeros)):
        code = "UTF-16" if marked else "UTF-16BE" if zeros[0] > zeros[1] else "UTF-16LE"
        raise CorpusError(
            f"{name}: seems to be {code}, it should be UTF-8; convert it, for example with iconv -f {code} -t UTF-8"
        )


def lines(file: BufferedReader, name: object) -> Iterator[bytes]:
    """The lines of a stream with their line feeds.

    Raises:
        CorpusError: if a line is longer than `MOST_IN_MEMORY`, or the stream is not such text.
    """
    head = file.peek()
    require_text(head, name)
    if b"\n" not in head and b"\r" in head.rstrip(b"\r"):
        raise CorpusError(
            f"{name}: its lines end with a carriage return alone, they should end with a line feed; convert it, for "
            "example with tr '\\r' '\\n'"
        )
    number = 0
    while line := file.readline(MOST_IN_MEMORY + 1):
        number += 1
        if len(line) > MOST_IN_MEMORY:
            raise CorpusError(
                f"{name}, line {number}: longer than {size(MOST_IN_MEMORY)}, the most that is held in memory; "
                "give text with one sentence a line"
            )
        yield line


def members(archive: Path, wanted: Callable[[str], bool]) -> Generator[tuple[str, BufferedReader], None, None]:
    """The wanted members of a zip or tar archive, in order, with printable names. A member can be read until the next
    one is requested. Nothing is unpacked to disk.

    Links in the archive are not followed, as the text that they lead to is read under its own name; a warning lists
    them.

    Raises:
        CorpusError: if the archive is damaged, or if a wanted member is encrypted, expands to more than
            `MOST_EXPANSION` times the archive and more than `MOST_IN_MEMORY`, or links to a member that is not read.
    """
    expanded = 0
    read: set[str] = set()
    links: dict[str, str] = {}
    try:
        most = max(MOST_IN_MEMORY, MOST_EXPANSION * archive.stat().st_size)
        for member in _of_zip(archive) if archive.suffix == ".zip" else _of_tar(archive):
            if not wanted(member.name):
                continue
            name = printable(member.name)
            if member.encrypted:
                raise CorpusError(f"{archive}: {name} is encrypted; unpack the archive, and give what was in it")
            if (target := member.link_to()) is not None:
                links[name] = target
                continue
            expanded += member.size
            if expanded > most:
                raise CorpusError(
                    f"{archive}: {name}: up to its end the archive expands to {size(expanded)}, which is more than "
                    f"{MOST_EXPANSION} times its size; text is not compressed so much: look into the archive, and give "
                    "what was in it as files if it is right"
                )
            read.add(posixpath.normpath(member.name))
            with member.open() as content:
                yield name, content
    except BROKEN as error:
        raise CorpusError(f"{archive}: cannot be read as an archive ({error}); is it whole?") from None
    descriptions = [f"{name} (to {printable(target)})" for name, target in links.items()]
    if lost := [text for text, target in zip(descriptions, links.values(), strict=True) if target not in read]:
        raise CorpusError(
            f"{archive}: {len(lost)} links lead to what is not read here: {_first(lost)}; unpack the archive, and give "
            "what was in it"
        )
    if links:
        logger.warning(
            "%s: skipped %d links to texts that are read once: %s", archive, len(links), _first(descriptions)
        )


def printable(name: str) -> str:
    """A name from an archive; with escapes if it has control characters or is not Unicode."""
    return name if name.isprintable() else ascii(name)


@dataclass(frozen=True)
class _Member:
    """A member of an archive, not yet opened."""

    name: str
    size: int
    open: Callable[[], BufferedReader]
    encrypted: bool = False
    link_to: Callable[[], str | None] = lambda: None
    """The path in the archive that a link leads to; None if the member is not a link."""


def _of_zip(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if info.is_dir():
                continue

            def content(info: zipfile.ZipInfo = info) -> BufferedReader:
                return BufferedReader(opened.open(info))  # type: ignore[arg-type]  # it reads as a raw stream does

            def target(info: zipfile.ZipInfo = info) -> str | None:
                if not stat.S_ISLNK(info.external_attr >> 16):
                    return None
                with content(info) as link:
                    return _target(info.filename, link.read(4096).decode("utf-8", "replace"))

            yield _Member(info.filename, info.file_size, content, bool(info.flag_bits & 0x1), target)


def _of_tar(archive: Path) -> Iterator[_Member]:
    with archive.open("rb") as file:
        kind = _compression(file.peek())
        opener = _OPENERS.get(kind)
        with (
            opener(file) if opener else file as stream,
            tarfile.open(fileobj=cast(Any, _Steps(stream, archive)), mode="r:") as tar,
        ):
            for member in tar:
                # tarfile's list of millions of members would fill the memory.
                tar.members = []  # type: ignore[attr-defined]

                def content(member: tarfile.TarInfo = member) -> BufferedReader:
                    return cast(BufferedReader, tar.extractfile(member))

                def target(member: tarfile.TarInfo = member) -> str | None:
                    if member.issym():
                        return _target(member.name, member.linkname)
                    return posixpath.normpath(member.linkname) if member.islnk() else None

                if member.isfile() or member.issym() or member.islnk():
                    yield _Member(member.name, member.size, content, link_to=target)


class _Steps:
    """The stream of a tar archive that refuses oversized headers, whose length may be given as gigabytes."""

    def __init__(self, stream: IO[bytes], archive: Path) -> None:
        self._stream = stream
        self._archive = archive
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, count: int) -> bytes:
        if count > MOST_IN_MEMORY:
            raise CorpusError(
                f"{self._archive}: has a header of {size(count)}, and at most {size(MOST_IN_MEMORY)} are held in "
                "memory; is it an archive of text?"
            )
        return self._stream.read(count)


def _compression(head: bytes) -> str | None:
    return next((kind for kind, signature in _SIGNATURES.items() if signature.match(head)), None)


def _target(link: str, leads_to: str) -> str:
    """The path in the archive that a symbolic link leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(link), leads_to))


def _first(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
