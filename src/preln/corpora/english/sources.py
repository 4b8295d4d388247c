"""The documents of each source, one after the other: nothing here holds more than one of them in memory."""

from __future__ import annotations

import bz2
import itertools
import lzma
import re
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from pydoc_data.topics import topics
from typing import IO

import mwparserfromhell

from preln.config import BookcorpusSource, EmbeddedSource, TextFilesSource, TextSource, WikipediaSource, WikitextSource
from preln.corpora import CorpusError
from preln.corpora.embedded import english
from preln.corpora.registry import needed_downloads

Document = list[str]
"""The paragraphs of a document, none of them empty."""

TEXTS = (".txt", ".raw", ".tokens")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

WRAPPED = 100
"""Characters; text with longer lines is not wrapped."""

LOOKED_AT = 1000
"""Lines of a text that tell whether it is wrapped."""

_BROKEN = (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
"""What reading an archive that is cut off or damaged ends in."""

# What WikiText writes for a hyphen, a comma or a point that stood inside a word or a number.
_JOINED = re.compile(r" @([-,.])@ ")
_TITLE = re.compile(r"= [^=].* =")
_HEADING = re.compile(r"(= )+[^=].*( =)+")


def documents_of(source: TextSource, downloads: Path) -> Iterator[Document]:
    """The documents of a source; of what is downloaded, from the folder `downloads` unless the source names a local
    one.

    Raises:
        CorpusError: if they cannot be read.
    """
    match source:
        case EmbeddedSource():
            yield from english.documents(source.documents, source.seed)
            yield from python_help()
        case WikitextSource():
            yield from wikitext(open_texts(source.folder or _downloaded(source, downloads)))
        case WikipediaSource():
            yield from ([markup] for markup in wikipedia(source.file or _downloaded(source, downloads)))
        case BookcorpusSource():
            yield from by_count(open_texts(source.folder or _downloaded(source, downloads)), source.lines)
        case TextFilesSource():
            texts = open_texts(source.path)
            match source.documents:
                case "file":
                    yield from by_file(texts)
                case "blank-line":
                    yield from by_blank_line(texts)
                case lines:
                    yield from by_count(texts, lines)


def _downloaded(source: TextSource, downloads: Path) -> Path:
    """The one file that a source downloads."""
    (name,) = needed_downloads(source)
    return downloads / name


def paragraphs_of(source: TextSource, document: Document) -> Document:
    """What a document of the source is made of, where reading it takes so long that several processes should."""
    return strip_markup(document[0]) if isinstance(source, WikipediaSource) else document


def python_help() -> Iterator[Document]:
    """The topics of Python's own help, which come with every Python, without their code and tables."""
    for _, text in sorted(topics.items()):
        blocks = (block.split("\n") for block in text.split("\n\n"))
        prose = [
            lines for lines in blocks if lines[0] and not lines[0].startswith(" ") and set(lines[-1]) - set("*=-~^")
        ]
        if document := [" ".join(line.strip() for line in lines) for lines in prose]:
            yield document


def open_texts(path: Path) -> Iterator[tuple[str, IO[str]]]:
    """The text files of `path`, which is a text file, an archive or a folder of both, by name, in the order of their
    names (in an archive, in its own order). Of an archive nothing is unpacked to disk.

    Raises:
        CorpusError: if there is none, or an archive cannot be read.
    """
    found = False
    for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        if file.name.endswith(ARCHIVES):
            opened = _in_archive(file)
        elif _is_text(file.name) or file == path:
            opened = _in_file(file)
        else:
            continue
        for text in opened:
            found = True
            yield text
    if not found:
        raise CorpusError(
            f"{path}: holds no text; allowed: {', '.join(TEXTS)}, and archives of them ({', '.join(ARCHIVES)})"
        )


def _is_text(name: str) -> bool:
    """Whether a file in a folder or an archive is one of text; other systems leave files of their own beside them."""
    path = PurePosixPath(name)
    return path.suffix in TEXTS and not path.name.startswith(".")


def _in_file(file: Path) -> Iterator[tuple[str, IO[str]]]:
    try:
        with file.open(encoding="utf-8-sig") as text:
            yield str(file), text
    except OSError as error:
        raise CorpusError(f"{file}: cannot be read ({error.strerror})") from None


def _in_archive(file: Path) -> Iterator[tuple[str, IO[str]]]:
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                for name in archive.namelist():
                    if _is_text(name):
                        with archive.open(name) as content:
                            yield f"{file}:{name}", TextIOWrapper(content, encoding="utf-8-sig")
        else:
            with tarfile.open(file) as tar:
                for member in tar:
                    content_or_none = tar.extractfile(member) if member.isfile() and _is_text(member.name) else None
                    if content_or_none is not None:
                        yield (
                            f"{file}:{member.name}",
                            TextIOWrapper(content_or_none, encoding="utf-8-sig"),
                        )
    except _BROKEN as error:
        raise CorpusError(f"{file}: cannot be read as an archive ({error})") from None


def lines_of(name: str, text: IO[str]) -> Iterator[str]:
    """The lines of a text without the white space around them.

    Raises:
        CorpusError: if the text is not UTF-8, or its archive is damaged, naming the line before.
    """
    number = 0
    try:
        for line in text:
            number += 1
            yield line.strip()
    except UnicodeDecodeError as error:
        raise CorpusError(f"{name}: after line {number}: not UTF-8 ({error.reason})") from None
    except _BROKEN as error:
        raise CorpusError(f"{name}: after line {number}: cannot be read ({error}); is it whole?") from None


def by_file(texts: Iterable[tuple[str, IO[str]]]) -> Iterator[Document]:
    """Every file is a document."""
    for name, text in texts:
        if document := list(unwrapped(lines_of(name, text))):
            yield document


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """The paragraphs of a text: each line is one, unless the lines are wrapped, where each block of them is one.

    Lines count as wrapped where, of the first `LOOKED_AT`, some are blank, the longest is no longer than `WRAPPED`, and
    half of them are at least half as long.
    """
    rest = iter(lines)
    first = list(itertools.islice(rest, LOOKED_AT))
    lengths = sorted(len(line) for line in first if line)
    together = itertools.chain(first, rest)
    if not lengths or all(first) or lengths[-1] > WRAPPED or lengths[len(lengths) // 2] < lengths[-1] / 2:
        return (line for line in together if line)
    return (" ".join(block) for has_text, block in itertools.groupby(together, key=bool) if has_text)


def by_blank_line(texts: Iterable[tuple[str, IO[str]]]) -> Iterator[Document]:
    """Blank lines divide documents, every other line is a paragraph."""
    for name, text in texts:
        document: Document = []
        for line in lines_of(name, text):
            if line:
                document.append(line)
            elif document:
                yield document
                document = []
        if document:
            yield document


def by_count(texts: Iterable[tuple[str, IO[str]]], paragraphs: int) -> Iterator[Document]:
    """So many paragraphs of a file are a document: for text such as BookCorpus, whose books are not divided."""
    for name, text in texts:
        left = unwrapped(lines_of(name, text))
        while document := list(itertools.islice(left, paragraphs)):
            yield document


def wikitext(texts: Iterable[tuple[str, IO[str]]]) -> Iterator[Document]:
    """WikiText's articles: a title between single equals signs begins one; headings are left out."""
    for name, text in texts:
        document: Document = []
        for line in lines_of(name, text):
            if _TITLE.fullmatch(line):
                if document:
                    yield document
                document = []
            elif line and not _HEADING.fullmatch(line):
                document.append(_JOINED.sub(r"\1", line))
        if document:
            yield document


def wikipedia(dump: Path) -> Iterator[str]:
    """The markup of each article of a dump (`pages-articles.xml`, as it is or compressed by bzip2); redirects and pages
    outside of the encyclopedia are left out.

    Raises:
        CorpusError: if the dump cannot be read.
    """
    try:
        with bz2.open(dump, "rb") if dump.suffix == ".bz2" else dump.open("rb") as file:
            steps = ElementTree.iterparse(file, events=("start", "end"))
            _, root = next(steps)
            for step, page in steps:
                if step == "start" or (not page.tag.endswith("}page") and page.tag != "page"):
                    continue
                markup = page.findtext("{*}revision/{*}text")
                if page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None and markup:
                    yield markup
                # What has been read is let go, or memory would hold the whole dump in the end.
                root.clear()
    except (OSError, EOFError, StopIteration, ElementTree.ParseError) as error:
        raise CorpusError(f"{dump}: cannot be read as a dump ({error})") from None


def strip_markup(markup: str) -> Document:
    """The paragraphs of an article, without tables, templates, references and headings."""
    code = mwparserfromhell.parse(markup)
    for node in [*code.filter_tags(matches=lambda tag: tag.tag in ("ref", "table")), *code.filter_headings()]:
        try:
            code.remove(node)
        except ValueError:
            continue  # it stood inside of one that is removed already
    lines = (line.strip() for line in code.strip_code().splitlines())
    # Links to pictures and categories leave their bare names.
    return [line for line in lines if line and not re.match(r"(thumb|File:|Image:|Category:)", line)]
