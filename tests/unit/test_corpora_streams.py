"""Archives and files that would fill the memory, or hold what cannot be read: refused early and by name."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from preln.corpora import CorpusError
from preln.corpora.english.sources import by_file, open_texts
from tests.archives import tar

ZEROS = 512 << 20
"""Bytes of a file without a line feed; to hold them as text takes twice as many, and more."""


def sparse(path: Path) -> Path:
    path.touch()
    os.truncate(path, ZEROS)
    return path


@pytest.mark.slow
def test_what_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path) -> None:
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
    text = subprocess.run([sys.executable, "-c", program, sparse(tmp_path / "a.txt")], capture_output=True, text=True)
    refusal, kilobytes = text.stdout.splitlines()
    assert "a.txt: after line 0: a document of more than 64 MiB" in refusal
    assert int(kilobytes) < 400 << 10, "the package takes a hundred MiB itself"


def test_a_document_of_too_many_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("preln.corpora.english.sources.MOST_IN_MEMORY", 10_000)
    (tmp_path / "a.txt").write_text("A line.\n" * 1000)
    # A line takes fewer bytes in newer versions of Python.
    last = math.ceil(10_000 / sys.getsizeof("A line.\n")) - 1
    with pytest.raises(CorpusError, match=rf"a\.txt: after line {last}: a document of more than .*divide the text"):
        list(by_file(open_texts(tmp_path)))


def patched(path: Path, flags: int, method: int) -> None:
    """A zip archive whose one member has such flags and such a method of compression, in both of its headers."""
    content = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.index(signature) + at
        content[start : start + 4] = flags.to_bytes(2, "little") + method.to_bytes(2, "little")
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("flags", "method", "message"),
    [
        (1, 0, r"a\.zip: .*book/one\.txt.* is encrypted.*; unpack the archive"),
        (0, 98, r"a\.zip: cannot be read as an archive \(.*compression"),
    ],
    ids=["encrypted", "an unknown compression"],
)
def test_a_member_that_cannot_be_read_is_refused_by_name(flags: int, method: int, message: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("book/one.txt", "Not readable.")
    patched(tmp_path / "a.zip", flags, method)
    with pytest.raises(CorpusError, match=message):
        list(by_file(open_texts(tmp_path / "a.zip")))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_to_a_text_is_refused_by_name(kind: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        for name in ("books/one.png", "books/one.txt"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, f"../{name}"
            archive.addfile(link)
    with pytest.raises(CorpusError, match=r"a\.tar\.gz: books/one\.txt is a link; unpack the archive"):
        list(by_file(open_texts(tmp_path)))


def test_a_link_in_a_zip_archive_is_refused_by_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        link = zipfile.ZipInfo("books/soft.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "one.txt")
    with pytest.raises(CorpusError, match=r"a\.zip: books/soft\.txt is a link"):
        list(by_file(open_texts(tmp_path)))


def test_an_archive_of_many_members_is_read_whole(tmp_path: Path) -> None:
    tar(tmp_path / "a.tar.gz", {f"{number}.txt": f"Text {number}.\n" for number in range(300)})
    assert list(by_file(open_texts(tmp_path))) == [[f"Text {number}."] for number in range(300)]


def test_a_member_that_is_no_text_is_told_by_its_kind(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "Ein Satz.\nNoch einer.\n".encode("utf-16"))
    with pytest.raises(CorpusError, match=r"a\.txt: seems to be UTF-16, it should be UTF-8; .*iconv -f UTF-16 -t"):
        list(by_file(open_texts(tmp_path)))
