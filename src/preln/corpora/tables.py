"""Parallel text in one file: rows of named columns in TSV, CSV, JSON, JSON lines and TMX, also compressed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from preln.config.base import listed
from preln.corpora import CorpusError, doubts, streams
from preln.corpora.languages import language_of
from preln.corpora.streams import COMPRESSED
from preln.corpora.text import lines_of

Row = dict[str, str]
"""Texts by the name of their column: its heading, its key or its language; without a heading, its number from 1."""

SAMPLE = 1000
"""Rows by which the columns are judged."""
_TEXT = "(?:(?:text|sentence|segment|word)s?(?:/sentences)?)"
_SOURCE, _TARGET = "(?:source|src|original)", "(?:target|tgt|trg|translation)"
_HEADINGS = (
    re.compile(rf"#? ?({_SOURCE}([ _]\w+)?|{_TEXT}([ _]?1)?)", re.I),
    re.compile(rf"#? ?({_TARGET}([ _]\w+)?|{_TEXT}[ _]?2)", re.I),
)
"""Headings of the columns of source and target that are no language."""
_BESIDE_LANGUAGE = re.compile(rf"^#? ?(?:(?:{_TEXT}|{_SOURCE}|{_TARGET})[ _])?|(?:[ _]{_TEXT})?$", re.I)
"""Parts of a heading beside a language, as in `#en`, `text_en`, `src_en` and `English sentence`."""

NO_LANGUAGES = {
    *("txt", "tok", "raw", "bpe", "src", "tgt", "trg", "ref", "hyp", "csv", "tsv", "tmx", "xz"),
    *("all", "dev", "sub", "ted"),
}
"""Words of names and headings that look like a language's code."""

_QUOTED = re.compile('"(?=.*"".*")(?:[^"]|"")*"')
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True)
class Columns:
    """The two columns of a table that are a parallel text, and their languages; None where the table does not say."""

    source: str
    target: str
    languages: tuple[str | None, str | None]


def language_tag(name: str) -> str | None:
    """The language that an ending or a heading names; None if it names none."""
    try:
        return None if re.split("[-_ ]", name.lower())[0] in NO_LANGUAGES else language_of(name).tag
    except ValueError:
        return None


@cache
def _names() -> dict[str, str]:
    """The codes of two letters, by the English names of their languages in small letters (the registry of BCP 47).
    Names of other languages are words too: Label, Even."""
    from langcodes.registry_parser import parse_registry

    names: dict[str, str] = {}
    for entry in parse_registry():
        if entry["Type"] == "language" and len(entry["Subtag"]) == 2 and "Deprecated" not in entry:
            descriptions = entry["Description"]
            for name in [descriptions] if isinstance(descriptions, str) else descriptions:
                names[re.sub(r"^Modern | \(.*\)$", "", name).lower()] = entry["Subtag"]
    return names


def _of_heading(name: str) -> str | None:
    """The language of a column, by its heading; None if it names none."""
    name = _BESIDE_LANGUAGE.sub("", name)
    return language_tag(_names().get(name.lower(), name))


def stem(path: Path) -> str:
    """A file's name without the ending of its compression."""
    return path.stem if path.suffix.lower() in COMPRESSED else path.name


def is_table(path: Path) -> bool:
    """Tell by its name whether a file has both sides of a parallel text."""
    return _form(path) in _READERS


def _form(path: Path) -> str:
    return Path(stem(path)).suffix.lower()


def rows(path: Path) -> Iterator[Row]:
    """The rows of a table one by one.

    Raises:
        CorpusError: if the file is not of the format that its name says, naming the line.
    """
    return _READERS[_form(path)](path)


def columns(path: Path, wanted: tuple[str | None, str | None]) -> Columns:
    """The columns of source and target: those of the wanted languages, or else of such headings, or else the first two
    that have sentences.

    Raises:
        CorpusError: if there are no two such columns.
    """
    sample = list(islice(rows(path), SAMPLE))
    names = list(dict.fromkeys(chain.from_iterable(sample)))
    cells = {name: [row.get(name, "") for row in sample] for name in names}
    texts = [name for name in names if not doubts.are_labels(cells[name])]
    # Such as the language, the domain or the part of each pair.
    varied = [name for name in texts if not doubts.are_repeated(cells[name])]
    texts = varied if len(varied) > 1 else texts
    tags = headed = {name: tag for name in names if (tag := _of_heading(name))}
    if not tags and len(texts) > 1 and (pair := language_pair(path)):
        tags = dict(zip(_in_order(texts), pair, strict=False))
    tagged = [name for name in texts if name in tags]
    sides = [_of_language(tag, tagged, tags) if tag else None for tag in wanted]
    rest = iter([name for name in (tagged if len(tagged) > 1 else _in_order(texts)) if name not in sides])
    source, target = (side or next(rest, None) for side in sides)
    for language, of_language, side in zip(wanted, sides, (source, target), strict=True):
        if language and not of_language and side in headed:
            raise CorpusError(f"{path}: has no column in {language}; its columns with a language are {listed(headed)}")
    if source is None or target is None or source == target:
        raise CorpusError(
            f"{path}: has no two columns of sentences; its columns are {listed(names) or 'none'}; give a table with a "
            "column for each side, or two text files"
        )
    return Columns(source, target, (wanted[0] or tags.get(source), wanted[1] or tags.get(target)))


def columns_like(path: Path, train: Columns) -> Columns:
    """The columns of another part of a text: those of train where it has them, or else its own.

    Raises:
        CorpusError: if there are no two such columns.
    """
    names = set(chain.from_iterable(islice(rows(path), SAMPLE)))
    return train if {train.source, train.target} <= names else columns(path, train.languages)


def _of_language(wanted: str, names: list[str], tags: dict[str, str]) -> str | None:
    """The column of a language, or else of another region or script of it."""
    alike = [name for name in names if tags[name].split("-")[0] == wanted.split("-")[0]]
    return next((name for name in alike if tags[name] == wanted), alike[0] if alike else None)


def _in_order(names: list[str]) -> list[str]:
    """The columns with source and target, if headings name them, at the beginning."""
    sides = [next((name for name in names if heading.fullmatch(name)), None) for heading in _HEADINGS]
    first = [name for name in sides if name] if all(sides) else []
    return [*first, *(name for name in names if name not in first)]


def language_pair(path: Path) -> tuple[str, str] | None:
    """The languages of a name such as `train.en-de.tsv`, `pt_BR-en.tsv`, `news_en_de.tsv` or `en_to_de.tsv`."""
    for part in path.name.split("."):
        # An underscore may stand before a region.
        for separator in ("-", "[-_]") if not re.search("[a-z]_[A-Z]{2}$", part) else ("-",):
            tags = map(language_tag, re.split(f"{separator}(?:to{separator})?", part))
            adjacent = [(source, target) for source, target in pairwise(tags) if source and target and source != target]
            # A name with several pairs, such as `fr-en-to-de`, names none for certain.
            if len(adjacent) == 1:
                return adjacent[0]
    return None


def pairs(path: Path, chosen: Columns) -> Iterator[tuple[str, str]]:
    """The lines of source and target; a line end in a text becomes a space."""
    for row in rows(path):
        source, target = (" ".join(row.get(name, "").splitlines()) for name in (chosen.source, chosen.target))
        yield source, target


def _separated(path: Path, split: Callable[[Iterator[str]], Iterator[list[str]]]) -> Iterator[Row]:
    """The rows of a TSV or CSV file, whose first row may be a heading."""
    try:
        cells = split(lines_of(path, unpack=True))
        first = next(cells, [])
        second = next(cells, [])
        names = [
            number
            for number, name in enumerate(first)
            if any(heading.fullmatch(name) for heading in _HEADINGS) or _of_heading(name)
        ]
        # A column may have the language of each pair.
        headed = len(names) > 1 and not any(first[number] in second[number : number + 1] for number in names)
        if not headed:
            yield _numbered(first)
        for row in chain([second] if second else [], cells):
            yield dict(zip(first, row, strict=False)) if headed else _numbered(row)
    except csv.Error as error:
        raise CorpusError(f"{path}: not CSV: {error}") from None


def _numbered(cells: list[str]) -> Row:
    return {str(number): cell for number, cell in enumerate(cells, start=1)}


def _tabs(lines: Iterator[str]) -> Iterator[list[str]]:
    """The cells of TSV; some programs quote all, or those with quotation marks or a line end in them, as in CSV."""
    sample = list(islice(lines, SAMPLE))
    widths = {line.count("\t") for line in sample}
    is_quoted = all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in sample[0].split("\t"))
    if (is_quoted or len(widths) > 1) and _is_table(sample, "\t"):
        yield from _commas(chain(sample, lines))
        return
    for line in chain(sample, lines):
        cells = line.split("\t")
        yield [cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell for cell in cells]


def _commas(lines: Iterator[str]) -> Iterator[list[str]]:
    """The cells of CSV, separated by commas, semicolons (where commas are decimal), tabs or bars."""
    sample = list(islice(lines, SAMPLE))
    # A sentence has either mark too, but not each sentence as often.
    likelier = ";" if sample[0].count(";") > sample[0].count(",") else ","
    delimiter = next((mark for mark in "\t|,;" if _is_table(sample, mark)), likelier)
    raw: list[str] = []
    reader = csv.reader(_kept(chain(sample, lines), raw), delimiter=delimiter)
    try:
        for cells in reader:
            # A pair of quotation marks in a quoted cell is written as four.
            is_quoted = any('""""' in line for line in raw)
            yield cells if is_quoted else [_single(cell) if '""' in cell else cell for cell in cells]
            raw.clear()
    except csv.Error as error:
        raise csv.Error(f"about line {reader.line_num:,}: {error}; is a quotation mark not closed?") from None


def _is_table(sample: Sequence[str], delimiter: str) -> bool:
    """Each line has the same number of cells, and more than one."""
    try:
        (first, *others) = {len(cells) for cells in csv.reader(sample, delimiter=delimiter)}
    except csv.Error:
        return False
    return first > 1 and not others


def _kept(lines: Iterator[str], raw: list[str]) -> Iterator[str]:
    for line in lines:
        raw.append(line)
        yield f"{line}\n"


def _single(cell: str) -> str:
    """The text of a cell that is not quoted and has its marks doubled, of which a reader of CSV loses the first."""
    text = cell.replace('""', '"')
    return f'"{text}' if text.count('"') % 2 else text


def _objects(path: Path) -> Iterator[Row]:
    for number, line in enumerate(lines_of(path, unpack=True), start=1):
        if line.strip():
            yield _texts(_json(line, f"{path}, line {number}"), f"{path}, line {number}")


def _array(path: Path) -> Iterator[Row]:
    """The objects of a JSON array; or JSON lines, which may have the same ending."""
    first = next((line for line in lines_of(path, unpack=True) if line.strip()), "")
    if not first.lstrip().startswith("["):
        yield from _objects(path)
        return
    for number, content in enumerate(_json("\n".join(lines_of(path, unpack=True)), str(path)), start=1):
        yield _texts(content, f"{path}, element {number}")


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CorpusError(f"{where}: not JSON: {error}") from None


def _texts(content: Any, where: str) -> Row:
    """The texts of an object, or in an object below, as in those of Hugging Face; half of a character, as of an emoji
    that was cut, becomes U+FFFD."""
    if not isinstance(content, dict):
        raise CorpusError(f"{where}: must be an object, such as {{'nl': ..., 'fr': ...}}")
    below = [value for value in content.values() if isinstance(value, dict)]
    texts = {key: text for part in (*below, content) for key, text in part.items() if isinstance(text, str)}
    return {key: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for key, text in texts.items()}


def _units(path: Path) -> Iterator[Row]:
    """The translation units of TMX."""
    try:
        with streams.unpacked(path) as file:
            for _, element in ElementTree.iterparse(file):
                if element.tag.rpartition("}")[2] == "tu":
                    yield {
                        language_tag(code) or code: "".join(_segment(segment)).strip()
                        for variant in element.iterfind("{*}tuv")
                        if (segment := variant.find("{*}seg")) is not None
                        for code in [variant.get(_LANG) or variant.get("lang") or ""]
                    }
                    element.clear()
    # The parser raises a ValueError or a LookupError for an encoding that it does not read.
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise CorpusError(f"{path}: not TMX: {error}") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror or error}") from None


def _segment(element: ElementTree.Element) -> Iterator[str]:
    """The text of a segment without the codes of its markup."""
    yield element.text or ""
    for inner in element:
        if inner.tag.rpartition("}")[2] in ("hi", "sub"):
            yield from _segment(inner)
        yield inner.tail or ""


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".tsv": partial(_separated, split=_tabs),
    ".csv": partial(_separated, split=_commas),
    ".json": _array,
    ".jsonl": _objects,
    ".ndjson": _objects,
    ".tmx": _units,
}
FORMATS = tuple(_READERS)
"""The endings of tables."""
