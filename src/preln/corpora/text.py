"""Reading and writing of parallel text: every line is checked, and drops are counted by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from preln.corpora import CorpusError, doubts, streams
from preln.libraries import regex, tqdm
from preln.records.files import replaced

Pair = tuple[str, str]
"""A sentence of the source language and its translation."""

PARTS = ("train", "valid", "test")

LONGEST_LINE = 10_000
"""Characters; a longer line is not a sentence, and would stall the tokeniser."""

MOST_PIECES = 1000
"""Largest number of BPE pieces in a sentence that a model reads; fairseq's positions end at 1024."""

# A tab is white space. The C1 range stays: it occurs in the field's own prepared IWSLT14 text.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

LARGEST_RATIO = 1.5
"""Largest ratio of the sides' numbers of words, as in the field's preparations."""

# The files are read as lines, not as XML: the field's test sets keep their entities.
_SEGMENT = re.compile(r'<seg id="[0-9]*">\s*(.*?)\s*</seg>')

# SentencePiece writes a space as U+2581 and an unknown character as U+2585, and fairseq's dictionary has symbols that
# look like words: a text with one of them would change its meaning.
_RESERVED = re.compile("[\u2581\u2585]|<s>|<pad>|</s>|<unk>")


_REASONS = {
    "empty": "with an empty side",
    "control_characters": "with control characters",
    "reserved_symbols": "with symbols that SentencePiece or fairseq reserves",
    "too_many_characters": "with a line that is too long",
    "too_many_words": "with too many words",
    "unequal_lengths": "with a side more than half as long again as the other",
    "held_out": "that are in valid or test too",
    "not_chosen": "that are not of the subset, or beyond `pairs`",
}


@dataclass(frozen=True)
class Drops:
    """Sentence pairs dropped from a part of a corpus, counted by the first of `_REASONS`."""

    empty: int = 0
    control_characters: int = 0
    reserved_symbols: int = 0
    too_many_characters: int = 0
    too_many_words: int = 0
    unequal_lengths: int = 0
    held_out: int = 0
    not_chosen: int = 0

    def __add__(self, other: Drops) -> Drops:
        return Drops(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __str__(self) -> str:
        """The non-zero counts in words."""
        return ", ".join(f"{getattr(self, f.name):,} {_REASONS[f.name]}" for f in fields(self) if getattr(self, f.name))


@dataclass(frozen=True)
class Part:
    """The pairs and drops of train, valid or test, or of a piece of a part that does not fit into memory."""

    pairs: list[Pair]
    drops: Drops = Drops()
    warnings: tuple[str, ...] = ()
    """Likely mistakes in text that is used nevertheless."""


def lines_of(path: Path, doing: str = "read", unpack: bool = False) -> Iterator[str]:
    """The lines of a UTF-8 file one by one, without their line ends (`\\n` or `\\r\\n`) and without a byte order mark.
    A compressed file is refused, or unpacked if asked.

    Only `\\n` ends a line: U+2028, U+0085 and their like belong to the sentence.

    Raises:
        CorpusError: if the file cannot be read, is empty, is not UTF-8, or has a line that does not fit into memory
            (naming the line).
    """
    number = 0
    try:
        with (
            streams.unpacked(path) if unpack else path.open("rb") as file,
            tqdm.tqdm(
                total=None if unpack else path.stat().st_size,
                desc=f"{doing} {path.name}",
                unit="B",
                unit_scale=True,
                delay=2,
            ) as bar,
        ):
            for number, raw in enumerate(streams.lines(file, path), start=1):
                bar.update(len(raw))
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                yield raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); give a text file") from None
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}, line {number}: not UTF-8 ({error.reason} at byte {error.start + 1} of the line); "
            "convert the file to UTF-8, for example with iconv"
        ) from None
    if not number:
        raise CorpusError(f"{path}: the file is empty; give one sentence a line")


def read_parallel(source: Path, target: Path) -> Part:
    """The sentence pairs of two files that are line by line translations of each other, with a warning if they do not
    seem to be.

    Raises:
        CorpusError: if a file is not readable text, if their line counts differ, or if no pair is left.
    """
    sources, targets = list(lines_of(source)), list(lines_of(target))
    if len(sources) != len(targets):
        raise CorpusError(
            f"{source} has {len(sources)} lines, {target} has {len(targets)}: the files must be line by line "
            "translations of each other; align them, keeping an empty line where a translation is missing"
        )
    warnings = tuple(f"{source}, {target}: {doubt}" for doubt in doubts.of_sides(sources, targets))
    part = screen(Part(list(zip(sources, targets, strict=True)), warnings=warnings))
    if not part.pairs:
        raise CorpusError(f"{source}, {target}: no usable pair of sentences is left: {part.drops}")
    return part


def screen(part: Part) -> Part:
    """`part` without the pairs that no later stage could use."""
    return without(part, lambda pair: unusable(*pair))


def without(part: Part, reason_against: Callable[[Pair], str | None]) -> Part:
    """A part without the pairs against which there is a reason, a field of `Drops`, under which each is counted."""
    reasons = [reason_against(pair) for pair in part.pairs]
    kept = [pair for pair, reason in zip(part.pairs, reasons, strict=True) if reason is None]
    drops = Drops(**Counter(reason for reason in reasons if reason))
    return replace(part, pairs=kept, drops=part.drops + drops)


@cache
def _visible() -> regex.Pattern[str]:
    # Excludes white space, format characters such as U+200B and the soft hyphen (category Cf), characters that Unicode
    # hides by default, such as fillers and variation selectors, and Braille's empty pattern.
    return regex.compile(r"[^\s\x1c-\x1f\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]")


def unusable(*sides: str) -> str | None:
    """The reason, a field of `Drops`, for which a sentence or a pair cannot be used; None if it can."""
    if not all(_visible().search(side) for side in sides):
        return "empty"
    if any(_CONTROL.search(side) for side in sides):
        return "control_characters"
    if any(_RESERVED.search(side) for side in sides):
        return "reserved_symbols"
    if any(len(side) > LONGEST_LINE for side in sides):
        return "too_many_characters"
    return None


def clean(part: Part, most_words: int) -> Part:
    """`part` without pairs that Moses's `clean-corpus-n` drops at 1 to `most_words` words and ratio 1.5."""

    def reason_against(pair: Pair) -> str | None:
        shorter, longer = sorted(len(side.split()) for side in pair)
        if not shorter:
            return "empty"
        if longer > most_words:
            return "too_many_words"
        return "unequal_lengths" if longer / shorter > LARGEST_RATIO else None

    return without(part, reason_against)


def evaluation_segments(text: str) -> list[str]:
    """The sentences in a development or test set's XML or SGML file; a typographic apostrophe becomes `'`."""
    segments = (_SEGMENT.search(line) for line in text.split("\n"))
    return [segment.group(1).replace("’", "'") for segment in segments if segment]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines in UTF-8 with `\\n`; the file appears whole or not at all."""
    with replaced(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
