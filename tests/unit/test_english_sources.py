"""Each source's documents: what begins one, what is a paragraph, and what is refused, early and by name."""

import bz2
import gzip
import io
import math
import os
import shutil
import sys
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from preln.config import TextSource
from preln.corpora import CorpusError, data
from preln.corpora.english.sources import (
    Lines,
    by_blank_line,
    by_count,
    by_file,
    by_line,
    documents_of,
    open_texts,
    paragraphs_of,
    strip_markup,
    unwrapped,
    wikipedia,
    wikitext,
)
from tests.archives import tar
from tests.refused import refused


def texts(*contents: str) -> Iterator[Lines]:
    for number, content in enumerate(contents):
        yield Lines(f"text {number}", io.BufferedReader(io.BytesIO(content.encode())))


LONG = "A line that is longer than any that is wrapped. " * 4
WRAPPED = "It was the best of times and the worst\nof times, all in one sentence of it\n"
JOINED = WRAPPED.replace("\n", " ").strip()


@given(st.lists(st.text(st.characters(categories=["L"]), max_size=120)))
def test_no_word_is_lost_or_made_up(lines: list[str]) -> None:
    assert " ".join(unwrapped(lines)).split() == " ".join(lines).split()


@pytest.mark.parametrize(
    ("divide", "contents", "documents"),
    [
        (by_file, [f"{LONG}\n\nNext.\n", "", "Other.\n"], [[LONG.strip(), "Next."], ["Other."]]),
        (by_file, [f"{LONG}\n\n{WRAPPED * 50}"], [[LONG.strip(), " ".join([JOINED] * 50)]]),
        (by_file, ["one\n\ntwo\na good deal longer than these\n"], [["one", "two", "a good deal longer than these"]]),
        (by_blank_line, ["a\nb\n\n\nc\n", "d"], [["a", "b"], ["c"], ["d"]]),
        (by_line, ["One.\n\nTwo.\n", "Three.\n"], [["One."], ["Two."], ["Three."]]),
        (partial(by_count, paragraphs=2), [f"{WRAPPED}\n{WRAPPED}\n\n{WRAPPED}"], [[JOINED, JOINED], [JOINED]]),
        (
            wikitext,
            [" = One = \n First , of 1 @,@ 000 well @-@ known . \n = = Part = = \n Second . \n = Two = \n Third . "],
            [["First , of 1,000 well-known .", "Second ."], ["Third ."]],
        ),
    ],
    ids=[
        "files",
        "a long title",
        "short lines",
        "blank lines",
        "lines",
        "wrapped lines by number",
        "titles of WikiText",
    ],
)
def test_documents_are_divided_by(
    divide: Callable[..., Iterator[list[str]]], contents: list[str], documents: list[list[str]]
) -> None:
    assert list(divide(texts(*contents))) == documents


def page(namespace: int, text: str, redirect: str = "") -> str:
    return f"<page><title>T</title><ns>{namespace}</ns>{redirect}<revision><text>{text}</text></revision></page>"


def test_a_dump_gives_its_articles_alone(tmp_path: Path) -> None:
    pages = page(0, "An article.") + page(1, "Talk.") + page(0, "Moved.", '<redirect title="X"/>') + page(0, "Another.")
    content = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{pages}</mediawiki>'.encode()
    (tmp_path / "pages.xml.bz2").write_bytes(bz2.compress(content))
    assert list(wikipedia(tmp_path / "pages.xml.bz2")) == ["An article.", "Another."]


def test_a_dump_that_is_cut_off_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "pages.xml").write_text("<mediawiki><page>")
    with refused(CorpusError, "pages.xml: cannot be read as a dump"):
        list(wikipedia(tmp_path / "pages.xml"))


@pytest.mark.parametrize(
    ("markup", "paragraphs"),
    [
        (
            "{{Infobox|name=X}}\n'''Bold''' text of a [[cat|feline]].<ref>{{cite|1}}</ref>\n\n== Heading ==\n"
            "{| class=w\n| cell\n|}\nMore text.\n[[Category:Cats]]\n[[File:cat.jpg|thumb|A cat]]",
            ["Bold text of a feline.", "More text."],
        ),
        (
            "Of [[cat]]s,[[File:cat.jpg|right|thumb|upright=1.3|A [[cat]] on a mat.<ref>A book.</ref>]] and "
            "[[Image:cat.jpg|200px|A cat.]][[dog|hounds]][[ file : cat.jpg ]].",
            ["Of cats, and hounds."],
        ),
        ("See [[:Category:Cats|all cats]], or hear [[Media:cat.ogg|one]].", ["See all cats, or hear one."]),
    ],
    ids=["markup", "pictures", "links beside other articles"],
)
def test_markup_is_stripped_to_paragraphs(markup: str, paragraphs: list[str]) -> None:
    assert strip_markup(markup) == paragraphs


def test_a_folder_holds_texts_and_archives_and_what_other_systems_leave_beside_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("one.txt", "One.\n")
        archive.writestr("__MACOSX/._one.txt", b"\xff\x00")
        archive.writestr("cover.jpg", b"\xff\xd8")
    tar(tmp_path / "b.tgz", {"two.txt": "\ufeffTwo.\n"})
    (tmp_path / "c.txt").write_text("\ufeffTwo.\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert list(by_file(open_texts(tmp_path))) == [["One."], ["Two."], ["Two."]]


def test_a_compressed_text_is_unpacked(tmp_path: Path) -> None:
    for name, content in (("a.txt.zst", b"One.\n"), ("picture.png.zst", b"\x89PNG")):
        (tmp_path / name).write_bytes(zstd.compress(content))
    for path in (tmp_path, tmp_path / "a.txt.zst"):
        assert list(by_file(open_texts(path))) == [["One."]]


def test_an_archive_that_its_name_does_not_tell_is_refused(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tgz", {"one.txt": "One.\n"}).rename(tmp_path / "a.txt.gz")
    with refused(CorpusError, "a.txt.gz: a tar archive", "unpack it first"):
        list(by_file(open_texts(archive)))


@pytest.mark.parametrize("kind", ["zip", "gztar", "xztar", "gz"])
def test_an_archive_or_a_compressed_text_that_is_cut_off_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    text = tmp_path / "texts" / "a.txt"
    text.parent.mkdir()
    text.write_text(Random(1).randbytes(20_000).hex())
    whole = tmp_path / "whole.txt.gz"
    if kind == "gz":
        whole.write_bytes(gzip.compress(text.read_bytes()))
    else:
        whole = Path(shutil.make_archive(str(tmp_path / "whole"), kind, text.parent))
    whole.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with refused(CorpusError, whole.name, "cannot be read"):
        list(by_file(open_texts(whole)))


def test_a_folder_without_text_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    with refused(CorpusError, "holds no text", "allowed: .txt"):
        list(open_texts(tmp_path))


def source(**content: object) -> TextSource:
    return TypeAdapter(TextSource).validate_python(content)


@pytest.mark.slow
def test_a_seed_chooses_among_the_embedded_documents(tmp_path: Path) -> None:
    every = data.documents()
    first, again, other = (
        list(documents_of(source(source="embedded", documents=200, seed=seed), tmp_path)) for seed in (1, 1, 2)
    )
    assert len(first) == 200 and all(document in every for document in first + other)
    assert first == again != other


def test_a_local_folder_takes_the_place_of_the_download(tmp_path: Path) -> None:
    (tmp_path / "wiki.train.raw").write_text(" = One = \n Text . \n = Two = \n More . \n")
    (tmp_path / "p1.txt").write_text("a\n" * 25)
    articles = list(documents_of(source(source="wikitext", folder=tmp_path / "wiki.train.raw"), tmp_path / "no"))
    assert articles == [["Text ."], ["More ."]]
    books = list(documents_of(source(source="bookcorpus", folder=tmp_path / "p1.txt", lines=10), tmp_path / "no"))
    assert [len(book) for book in books] == [10, 10, 5]


def test_accents_of_ones_own_text_are_composed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A cafe\u0301.\n", encoding="utf-8")
    own = source(source="files", path=tmp_path, documents="file")
    assert list(documents_of(own, tmp_path)) == [["A café."]]


def test_the_markup_of_wikipedia_is_left_to_the_processes(tmp_path: Path) -> None:
    (tmp_path / "pages.xml").write_text(f"<mediawiki>{page(0, 'Of [[cat|cats]].')}</mediawiki>")
    wikipedias = source(source="wikipedia", file=tmp_path / "pages.xml")
    (document,) = documents_of(wikipedias, tmp_path)
    assert document == ["Of [[cat|cats]]."]
    assert paragraphs_of(wikipedias, document) == ["Of cats."]


def test_text_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n" + b"x" * 9000 + b"\n\xff\n")
    with pytest.raises(CorpusError, match=r"a\.txt: after line \d+: not UTF-8"):
        list(by_file(open_texts(tmp_path)))


@pytest.mark.parametrize("line", ["A line.\n", ""], ids=["many lines", "one without an end"])
def test_what_would_fill_memory_is_refused_early(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
