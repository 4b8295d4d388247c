"""Tokenising a line, and turning it back into running text.

Tokenisation is Moses's (through sacremoses, no Perl), with its escapes (`&apos;`, `&quot;`, ...), followed by
lower-casing. On the IWSLT14 test set, every line equals the Perl scripts' output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from preln.corpora.text import Pair
from preln.libraries import tqdm

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer, MosesTokenizer

_CHUNK = 1000
"""Lines in a process's task: enough to outweigh the cost of sending them."""

# The Perl tokeniser splits a line's final full stop from any word; sacremoses does not split it from an abbreviation.
_GLUED_FULL_STOP = re.compile(r"([^\s.])\.$")


@dataclass(frozen=True)
class LinePreparation:
    """The preparation of a line in one language, which can be pickled."""

    language: str
    tokenise: bool = True
    lowercase: bool = True

    def __call__(self, line: str) -> str:
        """Prepare a line; words are separated by single spaces, and all Unicode white space counts as space."""
        if self.tokenise:
            line = _tokeniser(self.language).tokenize(line, escape=True, return_str=True)
        if self.lowercase:
            line = line.lower()
        line = " ".join(line.split())
        return _GLUED_FULL_STOP.sub(r"\1 .", line) if self.tokenise else line

    def undo(self, line: str) -> str:
        """Running text from a prepared line; its case is kept."""
        return detokenise(line, self.language) if self.tokenise else line


def detokenise(line: str, language: str) -> str:
    """Running text from a tokenised line: escapes undone, punctuation attached, case kept."""
    detokenised: str = _detokeniser(language).detokenize(line.split(), return_str=True, unescape=True)
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
def _tokeniser(language: str) -> MosesTokenizer:
    # Importing sacremoses takes half a second.
    from sacremoses import MosesTokenizer

    return MosesTokenizer(language)


@cache
def _detokeniser(language: str) -> MosesDetokenizer:
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(language)
