"""Reading and writing of parallel text: every line is checked, and drops are counted by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache
from io import BufferedReader
from itertools import zip_longest
from pathlib import Path

from preln.config.base import content_of
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


REASONS = {
    "empty": "with an empty side",
    "control_characters": "with control characters",
    "reserved_symbols": "with symbols that SentencePiece or fairseq reserves",
    "too_many_characters": "with a line that is too long",
    "too_many_words": "with too many words",
    "unequal_lengths": "with a side more than half as long again as the other",
    "held_out": "that are in valid or test too",
    "not_chosen": "that are not of the subset, or beyond `pairs`",
}
"""Why sentence pairs are dropped from a part of a corpus."""

Drops = Counter[str]
"""Sentence pairs that are dropped, counted by the first of `REASONS`."""


def require_unchanged(path: Path, checksum: str | None) -> None:
    """Refuse a user's text that is no longer what its study was read with.

    Raises:
        CorpusError: if its checksum is another; without one, nothing is known of it.
    """
    if checksum and checksum != content_of(path):
        raise CorpusError(f"{path}: has changed since the study was read; run the same command again")


def in_words(drops: Drops) -> str:
    """The counts of what is dropped, for messages."""
    return ", ".join(f"{drops[reason]:,} {words}" for reason, words in REASONS.items() if drops[reason])


@dataclass(frozen=True)
class Part:
    """The pairs and drops of train, valid or test, or of a piece of a part that does not fit into memory."""

    pairs: list[Pair]
    drops: Drops = field(default_factory=Drops)
    warnings: tuple[str, ...] = ()
    """Likely mistakes in text that is used nevertheless."""


def lines_of(
    path: Path, doing: str = "read", unpack: bool = False, opened: AbstractContextManager[BufferedReader] | None = None
) -> Iterator[str]:
    """The lines of a UTF-8 file one by one, without their line ends (`\\n` or `\\r\\n`) and without a byte order mark.
    A compressed file is refused, or unpacked if asked. `opened` is the text where `path` names a member of an archive.

    Only `\\n` ends a line: U+2028, U+0085 and their like belong to the sentence.

    Raises:
        CorpusError: if the file cannot be read, is empty, is not UTF-8, or has a line that does not fit into memory
            (naming the line).
    """
    number = 0
    try:
        with (
            opened or (streams.unpacked(path) if unpack else path.open("rb")) as file,
            tqdm.tqdm(
                total=None if unpack or opened else path.stat().st_size,
                desc=f"{doing} {path.name}",
                unit="B",
                unit_scale=True,
                delay=2,
            ) as bar,
        ):
            streams.require_text(file.peek(), path)
            while raw := file.readline(streams.MOST_IN_MEMORY + 1):
                number += 1
                if number == 1 and not raw.endswith(b"\n") and b"\r" in raw.rstrip(b"\r"):
                    raise CorpusError(
                        f"{path}: its lines end with a carriage return alone, they should end with a line feed; "
                        "convert it, for example with tr '\\r' '\\n'"
                    )
                if len(raw) > streams.MOST_IN_MEMORY:
                    raise CorpusError(
                        f"{path}, line {number}: longer than {streams.MOST_IN_MEMORY >> 20} MiB, the most that is "
                        "held in memory; give text with one sentence a line"
                    )
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


def paired(sources: Iterable[str], targets: Iterable[str], source: object, target: object) -> Iterator[Pair]:
    """The pairs of the lines of two sides, one by one; messages call the sides `source` and `target`.

    Raises:
        CorpusError: at the end, if one has more lines.
    """
    counts = [0, 0]
    for first, second in zip_longest(sources, targets):
        counts[0] += first is not None
        counts[1] += second is not None
        yield first or "", second or ""
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{source} has {counts[0]:,} lines, {target} has {counts[1]:,}: they must be line by line translations of "
            "each other; align them, keeping an empty line where a translation is missing"
        )


def read_parallel(source: Path, target: Path) -> Part:
    """The sentence pairs of two files that are line by line translations of each other, with a warning if they do not
    seem to be.

    Raises:
        CorpusError: if a file is not readable text, if their line counts differ, or if no pair is left.
    """
    pairs = list(paired(lines_of(source), lines_of(target), source, target))
    sides = ([pair[side] for pair in pairs] for side in (0, 1))
    warnings = tuple(f"{source}, {target}: {doubt}" for doubt in doubts.of_sides(*sides))
    part = screen(Part(pairs, warnings=warnings))
    if not part.pairs:
        raise CorpusError(f"{source}, {target}: no usable pair of sentences is left: {in_words(part.drops)}")
    return part


def screen(part: Part) -> Part:
    """`part` without the pairs that no later stage could use."""
    return without(part, lambda pair: unusable(*pair))


def without(part: Part, reason_against: Callable[[Pair], str | None]) -> Part:
    """A part without the pairs against which there is one of `REASONS`, under which each is counted."""
    reasons = [reason_against(pair) for pair in part.pairs]
    kept = [pair for pair, reason in zip(part.pairs, reasons, strict=True) if reason is None]
    return replace(part, pairs=kept, drops=part.drops + Drops(filter(None, reasons)))


@cache
def _visible() -> regex.Pattern[str]:
    # Excludes white space, format characters such as U+200B and the soft hyphen (category Cf), characters that Unicode
    # hides by default, such as fillers and variation selectors, and Braille's empty pattern.
    return regex.compile(r"[^\s\x1c-\x1f\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]")


def unusable(*sides: str) -> str | None:
    """The reason, one of `REASONS`, for which a sentence or a pair cannot be used; None if it can."""
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


def evaluation_segments(lines: Iterable[str]) -> list[str]:
    """The sentences in a development or test set's XML or SGML file; a typographic apostrophe becomes `'`."""
    segments = map(_SEGMENT.search, lines)
    return [segment.group(1).replace("’", "'") for segment in segments if segment]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines in UTF-8 with `\\n`; the file appears whole or not at all."""
    with replaced(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
