"""Archives and files that would fill the memory, or hold what cannot be read: refused early and by name."""

from __future__ import annotations

import gzip
import io
import logging
import math
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from preln.config import TextPaths
from preln.config.pretraining_texts import TextFilesSource
from preln.corpora import CorpusError, streams
from preln.corpora.english.sources import by_file, open_texts
from preln.corpora.text import LONGEST_LINE
from tests.refused import names

ZEROS = 512 << 20
"""Bytes of a file without a line feed; to hold them as text takes twice as many, and more."""


def zipped(path: Path) -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("bomb.txt", "w") as member,
    ):
        for _ in range(ZEROS >> 20):
            member.write(bytes(1 << 20))
    return path


def tarred(path: Path) -> Path:
    header = tarfile.TarInfo("bomb.txt")
    header.size = ZEROS
    part = gzip.compress(bytes(1 << 24))
    # A gzip file is as many streams as one likes, one after the other.
    path.write_bytes(gzip.compress(header.tobuf()) + part * (ZEROS >> 24) + gzip.compress(bytes(1024)))
    return path


def with_header(path: Path) -> Path:
    """An archive of a header that says that it is very long, as it may."""
    header = tarfile.TarInfo("bomb.txt")
    header.type, header.size = tarfile.XHDTYPE, ZEROS
    part = gzip.compress(bytes(1 << 24))
    path.write_bytes(gzip.compress(header.tobuf()) + part * (ZEROS >> 24))
    return path


def sparse(path: Path) -> Path:
    path.touch()
    os.truncate(path, ZEROS)
    return path


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        (
            "a.zip",
            zipped,
            "a.zip: bomb.txt: up to its end the archive expands to 512 MiB, which is more than 100 times",
        ),
        (
            "a.tgz",
            tarred,
            "a.tgz: bomb.txt: up to its end the archive expands to 512 MiB, which is more than 100 times",
        ),
        ("a.tar.gz", with_header, "a.tar.gz: has a header of 512 MiB, and at most 64 MiB are held in memory"),
        ("a.txt", sparse, "a.txt: after line 0: a document of more than 64 MiB"),
    ],
)
def test_what_would_fill_the_memory_is_refused_before_it_does(
    name: str, write: Callable[[Path], Path], message: str, tmp_path: Path
) -> None:
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from preln.corpora import CorpusError\n"
        "from preln.corpora.english.sources import by_file, open_texts\n"
        "try:\n"
        "    list(by_file(open_texts(Path(sys.argv[1]))))\n"
        "except CorpusError as error:\n"
        "    print(error)\n"
        # What a process has had in memory at most; getrusage would count its parent's, from before it became itself.
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', Path('/proc/self/status').read_text())[1])\n"
    )
    text = subprocess.run([sys.executable, "-c", program, write(tmp_path / name)], capture_output=True, text=True)
    refusal, kilobytes = text.stdout.splitlines()
    assert message in refusal
    assert int(kilobytes) < 400 << 10, "the package takes a hundred MiB itself"


def test_the_limits_are_told_where_texts_of_ones_own_are_described() -> None:
    text = " ".join((TextFilesSource.__doc__ or "").split())
    assert names(text, f"{streams.size(streams.MOST_IN_MEMORY)} of memory", f"{streams.MOST_EXPANSION} times its size")
    of_pairs = " ".join((TextPaths.__doc__ or "").split())
    assert names(of_pairs, f"{LONGEST_LINE:,} characters", streams.size(streams.MOST_IN_MEMORY))


def test_a_document_of_too_many_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("preln.corpora.english.sources.MOST_IN_MEMORY", 10_000)
    (tmp_path / "a.txt").write_text("A line.\n" * 1000)
    # A line takes fewer bytes in newer versions of Python.
    last = math.ceil(10_000 / sys.getsizeof("A line.\n")) - 1
    with pytest.raises(CorpusError, match=rf"a\.txt: after line {last}: a document of more than .*divide the text"):
        list(by_file(open_texts(tmp_path)))


def test_text_that_repeats_itself_is_read_where_it_fits_into_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "The same line.\n" * 100_000)
    assert (tmp_path / "a.zip").stat().st_size * streams.MOST_EXPANSION < 1_500_000
    (document,) = by_file(open_texts(tmp_path))
    assert len(document) == 100_000


def patched(path: Path, flags: int, method: int) -> None:
    """A zip archive whose one member has such flags and such a method of compression, in both of its headers."""
    content = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.index(signature) + at
        content[start : start + 4] = flags.to_bytes(2, "little") + method.to_bytes(2, "little")
    path.write_bytes(content)


def test_an_encrypted_member_is_named_with_what_to_do(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("book/one.txt", "Not readable.")
    patched(tmp_path / "a.zip", flags=1, method=0)
    with pytest.raises(CorpusError, match=r"a\.zip: book/one\.txt is encrypted; unpack the archive"):
        list(by_file(open_texts(tmp_path / "a.zip")))


def test_an_unknown_compression_is_refused_by_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("one.txt", "Not readable.")
    patched(tmp_path / "a.zip", flags=0, method=98)
    with pytest.raises(CorpusError, match=r"a\.zip: cannot be read as an archive \(.*compression"):
        list(by_file(open_texts(tmp_path / "a.zip")))


def test_a_name_that_cannot_be_printed_is_told_in_escapes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a\x1b[2J\nb.txt", "Not readable.")
    patched(tmp_path / "a.zip", flags=1, method=0)
    with pytest.raises(CorpusError, match=r"a\.zip: 'a\\x1b\[2J\\nb\.txt' is encrypted"):
        list(by_file(open_texts(tmp_path / "a.zip")))


def linked(path: Path, *links: tuple[str, bytes, str]) -> Path:
    """A tar archive of books/one.txt and links: a name, a kind and what it leads to."""
    with tarfile.open(path, "w:gz") as tar:
        content = b"The one text.\n"
        member = tarfile.TarInfo("books/one.txt")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
        for name, kind, target in links:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, target
            tar.addfile(link)
    return path


def test_a_text_with_several_names_is_read_once_and_the_others_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive = linked(
        tmp_path / "a.tar.gz",
        ("books/hard.txt", tarfile.LNKTYPE, "books/one.txt"),
        ("books/soft.txt", tarfile.SYMTYPE, "one.txt"),
        ("other/soft.txt", tarfile.SYMTYPE, "../books/one.txt"),
        ("other/one.cover", tarfile.SYMTYPE, "../books/one.png"),
    )
    assert list(by_file(open_texts(archive))) == [["The one text."]]
    (message,) = caplog.messages
    text = f"{archive}: skipped 3 links to texts that are read once: books/hard.txt (to books/one.txt), "
    assert message.startswith(text)
    assert caplog.records[0].levelno == logging.WARNING


@pytest.mark.parametrize(
    ("kind", "target", "leads_to"),
    [
        (tarfile.SYMTYPE, "/etc/passwd", "/etc/passwd"),
        (tarfile.SYMTYPE, "../../outside.txt", "../outside.txt"),
        (tarfile.SYMTYPE, "missing.txt", "books/missing.txt"),
        (tarfile.LNKTYPE, "store/4f5a", "store/4f5a"),
    ],
)
def test_a_link_to_what_is_not_read_is_refused_by_name(kind: bytes, target: str, leads_to: str, tmp_path: Path) -> None:
    archive = linked(tmp_path / "a.tar.gz", ("books/link.txt", kind, target))
    message = rf"a\.tar\.gz: 1 links lead to what is not read here: books/link\.txt \(to {re.escape(leads_to)}\)"
    with pytest.raises(CorpusError, match=message):
        list(by_file(open_texts(archive)))


def test_a_link_in_a_zip_archive_is_no_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("books/one.txt", "The one text.\n")
        link = zipfile.ZipInfo("books/soft.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "one.txt")
    assert list(by_file(open_texts(tmp_path))) == [["The one text."]]
    assert "skipped 1 links" in caplog.text


def test_an_archive_of_many_members_is_read_whole(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        for number in range(300):
            content = f"Text {number}.\n".encode()
            member = tarfile.TarInfo(f"{number}.txt")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    assert list(by_file(open_texts(tmp_path))) == [[f"Text {number}."] for number in range(300)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Ein Satz.\nNoch einer.\n".encode("utf-16"), "seems to be UTF-16, it should be UTF-8; .*iconv -f UTF-16 -t"),
        ("Ein schöner Satz.\n".encode("utf-16-le"), "seems to be UTF-16LE, .*iconv -f UTF-16LE -t UTF-8"),
        ("Ein schöner Satz.\n".encode("utf-16-be"), "seems to be UTF-16BE, .*iconv -f UTF-16BE -t UTF-8"),
        (gzip.compress(b"A text.\n", mtime=0), "compressed by gzip, it should be text in UTF-8; unpack it first"),
        (b"PK\x03\x04rest", "compressed by zip"),
    ],
)
@pytest.mark.parametrize("archived", [False, True])
def test_what_is_no_text_is_told_by_its_kind(content: bytes, message: str, archived: bool, tmp_path: Path) -> None:
    if archived:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr("a.txt", content)
    else:
        (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(CorpusError, match=rf"a\.txt: {message}"):
        list(by_file(open_texts(tmp_path)))
