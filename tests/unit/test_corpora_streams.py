"""Archives and files that would fill the memory, or hold what cannot be read: refused early and by name."""

from __future__ import annotations

import math
import os
import sys
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from preln.corpora import CorpusError
from preln.corpora.english.sources import by_file, open_texts
from tests.archives import tar


@pytest.mark.parametrize("line", ["A line.\n", ""], ids=["many lines", "one without an end"])
def test_what_would_fill_the_memory_is_refused_before_it_does(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preln.corpora.english.sources.MOST_IN_MEMORY", 10_000)
    (tmp_path / "a.txt").write_text(line * 1000)
    os.truncate(tmp_path / "a.txt", 32 << 20)
    # A line takes fewer bytes in newer versions of Python.
    last = math.ceil(10_000 / sys.getsizeof(line)) - 1 if line else 0
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match=rf"a\.txt: after line {last}: a document of more than .*divide the text"):
            list(by_file(open_texts(tmp_path)))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_member_of_an_unknown_compression_is_refused_by_name(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("book/one.txt", "Not readable.")
    content = bytearray((tmp_path / "a.zip").read_bytes())
    for signature, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = content.index(signature) + at
        content[start : start + 2] = (98).to_bytes(2, "little")
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(CorpusError, match=r"a\.zip: cannot be read as an archive \(.*compression"):
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
