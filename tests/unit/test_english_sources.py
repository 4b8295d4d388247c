"""Each source's documents: what begins one, what is a paragraph, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from preln.config import TextSource
from preln.config.pretraining_texts import WIKIPEDIA_VERSION
from preln.corpora import CorpusError, data
from preln.corpora.english.sources import (
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


def texts(*contents: str) -> Iterator[tuple[str, io.BufferedReader]]:
    for number, content in enumerate(contents):
        yield f"text {number}", io.BufferedReader(io.BytesIO(content.encode()))


def test_a_file_is_a_document_and_a_line_a_paragraph() -> None:
    long = "A line that is longer than any that is wrapped. " * 4
    assert list(by_file(texts(f"{long}\n\nNext.\n", "", "Other.\n"))) == [[long.strip(), "Next."], ["Other."]]


def test_wrapped_lines_are_joined_to_paragraphs() -> None:
    lines = [
        "It was the best of times and the worst",
        "of times, all in one sentence of it",
        "",
        "Then came the rest of the story",
    ]
    assert list(unwrapped(lines)) == [
        "It was the best of times and the worst of times, all in one sentence of it",
        lines[3],
    ]


def test_a_list_of_short_lines_with_a_longer_one_is_not_wrapped() -> None:
    lines = ["one", "two", "three", "a good deal longer than these"]
    assert list(unwrapped(lines)) == lines


@given(st.lists(st.text(st.characters(categories=["L"]), max_size=120)))
def test_no_word_is_lost_or_made_up(lines: list[str]) -> None:
    assert " ".join(unwrapped(lines)).split() == " ".join(lines).split()


def test_blank_lines_divide_documents() -> None:
    assert list(by_blank_line(texts("a\nb\n\n\nc\n", "d"))) == [["a", "b"], ["c"], ["d"]]


def test_each_line_is_a_document() -> None:
    assert list(by_line(texts("One.\n\nTwo.\n", "Three.\n"))) == [["One."], ["Two."], ["Three."]]


def test_of_wrapped_lines_so_many_paragraphs_are_a_document() -> None:
    block = "It was the best of times and the worst\nof times, all in one sentence of it\n"
    joined = block.replace("\n", " ").strip()
    assert list(by_count(texts(f"{block}\n{block}\n\n{block}"), 2)) == [[joined, joined], [joined]]


def test_a_title_begins_an_article_of_wikitext() -> None:
    text = (
        " = One = \n\n First , of 1 @,@ 000 well @-@ known . \n\n = = Part = = \n\n Second . \n = Two = \n Third . \n"
    )
    assert list(wikitext(texts(text))) == [["First , of 1,000 well-known .", "Second ."], ["Third ."]]


def page(namespace: int, text: str, redirect: str = "") -> str:
    return f"<page><title>T</title><ns>{namespace}</ns>{redirect}<revision><text>{text}</text></revision></page>"


@pytest.mark.parametrize("compressed", [False, True])
def test_a_dump_gives_its_articles_alone(compressed: bool, tmp_path: Path) -> None:
    pages = page(0, "An article.") + page(1, "Talk.") + page(0, "Moved.", '<redirect title="X"/>') + page(0, "Another.")
    content = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{pages}</mediawiki>'.encode()
    dump = tmp_path / ("pages.xml.bz2" if compressed else "pages.xml")
    dump.write_bytes(bz2.compress(content) if compressed else content)
    assert list(wikipedia(dump)) == ["An article.", "Another."]


def test_a_dump_that_is_cut_off_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "pages.xml").write_text("<mediawiki><page>")
    with pytest.raises(CorpusError, match=r"pages\.xml: cannot be read as a dump"):
        list(wikipedia(tmp_path / "pages.xml"))


def test_markup_is_stripped_to_paragraphs() -> None:
    markup = (
        "{{Infobox|name=X}}\n'''Bold''' text of a [[cat|feline]].<ref>{{cite|1}}</ref>\n\n== Heading ==\n"
        "{| class=w\n| cell\n|}\nMore text.\n[[Category:Cats]]\n[[File:cat.jpg|thumb|A cat]]"
    )
    assert strip_markup(markup) == ["Bold text of a feline.", "More text."]


@pytest.mark.parametrize(
    "picture",
    [
        "[[File:cat.jpg|right|thumb|upright=1.3|A [[cat]] on a mat.<ref>A book.</ref>]]",
        "[[Image:cat.jpg|200px|A cat.]]",
        "[[ file : cat.jpg ]]",
    ],
)
def test_neither_a_picture_nor_its_options_and_caption_are_text(picture: str) -> None:
    assert strip_markup(f"{picture}\nOf [[cat]]s,{picture} and {picture}[[dog|hounds]].") == ["Of cats, and hounds."]


def test_a_link_to_what_is_beside_other_articles_is_text() -> None:
    markup = "See [[:Category:Cats|all cats]], or hear [[Media:cat.ogg|one]]."
    assert strip_markup(markup) == ["See all cats, or hear one."]


def archives(folder: Path) -> list[Path]:
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("one.txt", "One.\n")
    with tarfile.open(folder / "b.tar.xz", "w:xz") as tar:
        content = "\ufeffTwo.\n".encode()
        member = tarfile.TarInfo("two.txt")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return [folder / "a.zip", folder / "b.tar.xz"]


def test_a_folder_holds_texts_and_archives(tmp_path: Path) -> None:
    archives(tmp_path)
    (tmp_path / "c.txt").write_text("Three.\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert list(by_file(open_texts(tmp_path))) == [["One."], ["Two."], ["Three."]]


@pytest.mark.parametrize(
    ("ending", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd.compress)],
)
def test_a_compressed_text_is_unpacked(ending: str, compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / f"a.txt{ending}").write_bytes(compress(b"One.\n"))
    (tmp_path / f"picture.png{ending}").write_bytes(compress(b"\x89PNG"))
    for path in (tmp_path, tmp_path / f"a.txt{ending}"):
        assert list(by_file(open_texts(path))) == [["One."]]


def test_a_compressed_text_that_is_cut_off_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"One.\n" * 1000)[:-10])
    with pytest.raises(CorpusError, match=r"a\.txt\.gz"):
        list(by_file(open_texts(tmp_path)))


def test_a_folder_without_text_is_refused_with_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"holds no text; allowed: \.txt"):
        list(open_texts(tmp_path))


@pytest.mark.parametrize("name", ["whole.zip", "whole.tar.gz", "whole.tar.xz"])
def test_an_archive_that_is_cut_off_is_refused_by_name(name: str, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_bytes(Random(1).randbytes(20_000).hex().encode())
    with zipfile.ZipFile(tmp_path / "whole.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(text, "a.txt")
    for kind in ("gz", "xz"):
        with tarfile.open(tmp_path / f"whole.tar.{kind}", f"w:{kind}") as tar:  # type: ignore[call-overload]
            tar.add(text, "a.txt")
    whole = (tmp_path / name).read_bytes()
    cut = tmp_path / f"cut-{name}"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=f"cut-{name}.*cannot be read"):
        list(by_file(open_texts(cut)))


def test_files_that_other_systems_leave_beside_the_text_are_passed_over(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "Text.")
        archive.writestr("__MACOSX/._a.txt", b"\xff\x00")
        archive.writestr("cover.jpg", b"\xff\xd8")
    assert list(by_file(open_texts(tmp_path / "a.zip"))) == [["Text."]]


def source(**content: object) -> TextSource:
    found: TextSource = TypeAdapter(TextSource).validate_python(content)
    return found


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
    source = TypeAdapter(TextSource).validate_python({"source": "files", "path": tmp_path, "documents": "file"})
    assert list(documents_of(source, tmp_path)) == [["A café."]]


def test_the_markup_of_wikipedia_is_left_to_the_processes(tmp_path: Path) -> None:
    (tmp_path / "pages.xml").write_text(f"<mediawiki>{page(0, 'Of [[cat|cats]].')}</mediawiki>")
    wikipedias = source(source="wikipedia", file=tmp_path / "pages.xml")
    (document,) = documents_of(wikipedias, tmp_path)
    assert document == ["Of [[cat|cats]]."]
    assert paragraphs_of(wikipedias, document) == ["Of cats."]


def test_articles_that_are_read_otherwise_are_another_text_and_the_study_is_written_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wikipedias = source(source="wikipedia", date="20260101")
    before, written = wikipedias.identity, wikipedias.model_dump()
    monkeypatch.setattr("preln.config.pretraining_texts.WIKIPEDIA_VERSION", WIKIPEDIA_VERSION + 1)
    assert wikipedias.identity != before
    assert wikipedias.model_dump() == written


def test_text_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n" + b"x" * 9000 + b"\n\xff\n")
    with pytest.raises(CorpusError, match=r"a\.txt: after line \d+: not UTF-8"):
        list(by_file(open_texts(tmp_path)))
