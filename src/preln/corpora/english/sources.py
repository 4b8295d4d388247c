"""The documents of each source, one after the other: nothing here holds more than one of them in memory."""

from __future__ import annotations

import bz2
import itertools
import re
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from random import Random

import mwparserfromhell

from preln.config import BookcorpusSource, EmbeddedSource, TextFilesSource, TextSource, WikipediaSource, WikitextSource
from preln.corpora import CorpusError, data
from preln.corpora.registry import TEXT_FILES, is_archive, is_text, needed_downloads
from preln.corpora.streams import BROKEN, MOST_IN_MEMORY, members, require_text, unpacked

Document = list[str]
"""The paragraphs of a document, none of them empty."""

WRAPPED = 100
"""Characters; text with longer lines is not wrapped."""
EXCEPTIONS = 0.02
"""Share of the lines that may be longer, such as a title's."""

LOOKED_AT = 1000
"""Lines of a text that tell whether it is wrapped."""

# WikiText's signs for a hyphen, a comma or a point that stood inside a word or a number.
_JOINED = re.compile(r" @([-,.])@ ")
_TITLE = re.compile(r"= [^=].* =")
# Links whose targets stand beside an article's text (pictures, sounds) or below it (categories).
_BESIDE_THE_TEXT = re.compile(r"\s*(File|Image|Category)\s*:", re.IGNORECASE)
_HEADING = re.compile(r"(= )+[^=].*( =)+")


class Lines:
    """The lines of a text without the white space around them, of which a document at a time is held in memory."""

    def __init__(self, name: str, content: BufferedReader) -> None:
        self._name = name
        self._content = content
        self._taken = 0

    def next_document(self) -> None:
        """Begin a document: the lines before it may be let go."""
        self._taken = 0

    def __iter__(self) -> Iterator[str]:
        """Read the lines.

        Raises:
            CorpusError: if the text is not UTF-8, its archive is damaged, or a document, or a line of one, takes more
                than `MOST_IN_MEMORY`; naming the line before.
        """
        number = 0
        try:
            require_text(self._content.peek(), self._name)
            with TextIOWrapper(self._content, encoding="utf-8-sig") as text:
                while line := text.readline(MOST_IN_MEMORY):
                    self._taken += 0 if line.isspace() else sys.getsizeof(line)
                    if max(self._taken, len(line)) >= MOST_IN_MEMORY:
                        raise CorpusError(
                            f"{self._name}: after line {number}: a document of more than {MOST_IN_MEMORY >> 20} MiB, "
                            "the most held in memory; divide the text into smaller documents, and these into lines"
                        )
                    number += 1
                    yield line.strip()
        except UnicodeDecodeError as error:
            raise CorpusError(f"{self._name}: after line {number}: not UTF-8 ({error.reason})") from None
        except BROKEN as error:
            raise CorpusError(f"{self._name}: after line {number}: cannot be read ({error}); is it whole?") from None


def documents_of(source: TextSource, downloads: Path) -> Iterator[Document]:
    """The documents of a source; of what is downloaded, from the folder `downloads` unless the source names a local
    one.

    Raises:
        CorpusError: if they cannot be read.
    """
    match source:
        case EmbeddedSource():
            yield from Random(source.seed).sample(data.documents(), source.documents)
        case WikitextSource():
            yield from wikitext(open_texts(source.folder or _downloaded(source, downloads)))
        case WikipediaSource():
            yield from ([markup] for markup in wikipedia(source.file or _downloaded(source, downloads)))
        case BookcorpusSource():
            yield from by_count(open_texts(source.folder or _downloaded(source, downloads)), source.lines)
        case TextFilesSource():
            texts, unit = open_texts(source.path), source.documents
            by_unit = {"file": by_file, "blank-line": by_blank_line, "line": by_line}
            documents = by_count(texts, unit) if isinstance(unit, int) else by_unit[unit](texts)
            # Not in published texts, whose prepared forms have known checksums.
            yield from ([unicodedata.normalize("NFC", line) for line in document] for document in documents)


def _downloaded(source: TextSource, downloads: Path) -> Path:
    (name,) = needed_downloads(source)
    return downloads / name


def paragraphs_of(source: TextSource, document: Document) -> Document:
    """The paragraphs of a document of the source; several processes strip mark-up, which takes long."""
    return strip_markup(document[0]) if isinstance(source, WikipediaSource) else document


def open_texts(path: Path) -> Iterator[Lines]:
    """The text files of `path`, which is a text file, an archive or a folder of both, in the order of their names (in
    an archive, in its own order). Archives are not unpacked to disk.

    Raises:
        CorpusError: if there is none, or an archive cannot be read, as `members` has it.
    """
    has_text = False
    for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        if is_archive(file.name):
            for name, content in members(file, is_text):
                has_text = True
                yield Lines(f"{file}:{name}", content)
        elif is_text(file.name) or file == path:
            has_text = True
            with unpacked(file) as content:
                yield Lines(str(file), content)
    if not has_text:
        raise CorpusError(f"{path}: holds no text; allowed: {TEXT_FILES}")


def by_file(texts: Iterable[Lines]) -> Iterator[Document]:
    """Every file is a document."""
    yield from filter(None, (list(unwrapped(lines)) for lines in texts))


def unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """The paragraphs of a text: each line is one, unless the lines are wrapped, where each block of them is one.

    Lines count as wrapped where, of the first `LOOKED_AT`, some are blank, and the longest but for `EXCEPTIONS` is no
    longer than `WRAPPED`, with half of them at least half as long.
    """
    rest = iter(lines)
    first = list(itertools.islice(rest, LOOKED_AT))
    lengths = sorted(len(line) for line in first if line)
    together = itertools.chain(first, rest)
    width = lengths[-1 - int(EXCEPTIONS * len(lengths))] if lengths else 0
    if not width or all(first) or width > WRAPPED or lengths[len(lengths) // 2] < width / 2:
        return (line for line in together if line)
    return (" ".join(block) for has_text, block in itertools.groupby(together, key=bool) if has_text)


def by_blank_line(texts: Iterable[Lines]) -> Iterator[Document]:
    """Blank lines divide documents, every other line is a paragraph."""
    for lines in texts:
        for has_text, block in itertools.groupby(lines, key=bool):
            if has_text:
                yield list(block)
            lines.next_document()


def by_line(texts: Iterable[Lines]) -> Iterator[Document]:
    """Each line is a document."""
    for lines in texts:
        for line in lines:
            lines.next_document()
            if line:
                yield [line]


def by_count(texts: Iterable[Lines], paragraphs: int) -> Iterator[Document]:
    """So many paragraphs of a file are a document: for text such as BookCorpus, whose books are not divided."""
    for lines in texts:
        left = iter(unwrapped(lines))
        while document := list(itertools.islice(left, paragraphs)):
            lines.next_document()
            yield document


def wikitext(texts: Iterable[Lines]) -> Iterator[Document]:
    """WikiText's articles: a title between single equals signs begins one; headings are left out."""
    for lines in texts:
        document: Document = []
        for line in lines:
            if _TITLE.fullmatch(line):
                lines.next_document()
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
                # Elements that have been read are let go, or memory would hold the whole dump in the end.
                root.clear()
    except (OSError, EOFError, StopIteration, ElementTree.ParseError) as error:
        raise CorpusError(f"{dump}: cannot be read as a dump ({error})") from None


def strip_markup(markup: str) -> Document:
    """The paragraphs of an article, without tables, templates, references, headings, and pictures and their captions.

    What changes here raises `WIKIPEDIA_VERSION`.
    """
    code = mwparserfromhell.parse(markup)
    for node in [
        *code.filter_tags(matches=lambda tag: tag.tag in ("ref", "table")),
        *code.filter_headings(),
        *code.filter_wikilinks(matches=lambda link: bool(_BESIDE_THE_TEXT.match(str(link.title)))),
    ]:
        try:
            code.remove(node)
        except ValueError:
            continue  # it stood inside of one that is removed already
    return [line.strip() for line in code.strip_code().splitlines() if line.strip()]
