"""Tokenising a line, and turning it back into running text.

Moses (through sacremoses, no Perl) tokenises the languages that it knows, with its escapes (`&apos;`, `&quot;`, ...).
Lines of other languages are left as they are, for SentencePiece alone (`preln.corpora.languages`). On the IWSLT14 test
set, every line equals the Perl scripts' output.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from preln.corpora.languages import language_of
from preln.corpora.text import Pair
from preln.libraries import regex, tqdm

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer, MosesTokenizer

_CHUNK = 1000
"""Lines in a process's task: enough to outweigh the cost of sending them."""

# The Perl tokeniser splits a line's final full stop from any word; sacremoses does not split it from an abbreviation.
GLUED_FULL_STOP = r"([^\s.])\.$"

# Parts of a word, as in Unicode's own division of text into words (UAX 29).
LETTERS = r"\p{Alnum}\p{M}\p{N}"
JOINERS = r"'’·:\p{Cf}"
_JOINED = rf"(?<=[{LETTERS}])[{JOINERS}](?=[{LETTERS}])"
PADDED = rf"(?!{_JOINED})([^{LETTERS}\s.'`,-])"
"""The characters that Moses puts spaces around where whole words are kept."""
PADDED_APOSTROPHE = rf"(?!{_JOINED})'"
"""The apostrophes that it puts spaces around then."""


@dataclass(frozen=True)
class LinePreparation:
    """The preparation of a line in one language, by its code, which can be pickled. Moses tokenises it if it knows the
    language. With `whole_words`, accents are composed (NFC), and Moses leaves marks, and the apostrophes and colons
    between letters for which it has no rule, in their words. Published texts, whose checksums are known, go without."""

    language: str
    tokenise: bool = True
    lowercase: bool = True
    whole_words: bool = False

    @property
    def is_by_moses(self) -> bool:
        """Moses tokenises the line."""
        return self.tokenise and language_of(self.language).moses is not None

    def __call__(self, line: str) -> str:
        """Prepare a line; words are separated by single spaces, and all Unicode white space counts as space."""
        if self.whole_words:
            line = unicodedata.normalize("NFC", line)
        if self.is_by_moses:
            line = _tokeniser(self.language, self.whole_words).tokenize(line, escape=True, return_str=True)
        if self.lowercase:
            line = language_of(self.language).lower(line)
        line = " ".join(line.split())
        return re.sub(GLUED_FULL_STOP, r"\1 .", line) if self.is_by_moses else line


def detokenise(line: str, language: str) -> str:
    """Running text from a prepared line: of a language that Moses tokenises, escapes are undone and punctuation is
    attached. Scores are of this text; `preln.corpora.typography` has what a person would write."""
    if not language_of(language).moses:
        return line
    detokenised: str = detokeniser(language).detokenize(line.split(), return_str=True, unescape=True)
    return detokenised


def map_lines(function: Callable[[str], str], lines: Sequence[str], processes: int, label: str) -> list[str]:
    """Apply `function` to every line, in order, in `processes` processes; progress goes to stderr."""
    processes = min(processes, math.ceil(len(lines) / _CHUNK))
    if processes <= 1:
        return [function(line) for line in tqdm.tqdm(lines, desc=label, unit=" lines", delay=2)]
    with ProcessPoolExecutor(processes) as pool:
        results = pool.map(function, lines, chunksize=_CHUNK)
        return list(tqdm.tqdm(results, total=len(lines), desc=label, unit=" lines", delay=2))


def prepare_pairs(
    pairs: Sequence[Pair], preparations: Sequence[LinePreparation], processes: int, label: str
) -> list[Pair]:
    """Prepare the sources by the first of `preparations`, and the targets by the second."""
    source, target = (
        map_lines(preparation, [pair[side] for pair in pairs], processes, f"{label} {preparation.language}")
        for side, preparation in enumerate(preparations)
    )
    return list(zip(source, target, strict=True))


@cache
def _tokeniser(language: str, whole_words: bool) -> MosesTokenizer:
    # Importing sacremoses takes half a second.
    from sacremoses import MosesTokenizer

    tokeniser = MosesTokenizer(language_of(language).moses)
    if whole_words:
        tokeniser.PAD_NOT_ISALNUM = regex.compile(PADDED), r" \1 "
        tokeniser.NON_SPECIFIC_APOSTROPHE = regex.compile(PADDED_APOSTROPHE), " ' "
    return tokeniser


@cache
def detokeniser(language: str) -> MosesDetokenizer:
    """Moses's detokeniser for a language that it knows."""
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(language_of(language).moses)
