"""The one definition of a tokenised line, and of the way back from it to running text.

Tokenisation is Moses's (through sacremoses, no Perl), with its escapes (`&apos;`, `&quot;`, ...), followed by
lower-casing. On the IWSLT14 test set it gives, line by line, what the Perl scripts give.
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
"""Lines that a process takes at a time: enough to outweigh sending them."""

# The Perl tokeniser splits the last full stop of a line from any word, sacremoses not from an abbreviation.
_GLUED_FULL_STOP = re.compile(r"([^\s.])\.$")


@dataclass(frozen=True)
class LinePreparation:
    """What is done to each line of one language; a value that can be sent to other processes."""

    language: str
    tokenise: bool = True
    lowercase: bool = True

    def __call__(self, line: str) -> str:
        """The line, its words separated by single spaces. All Unicode white space counts as space."""
        if self.tokenise:
            line = _tokeniser(self.language).tokenize(line, escape=True, return_str=True)
        if self.lowercase:
            line = line.lower()
        line = " ".join(line.split())
        return _GLUED_FULL_STOP.sub(r"\1 .", line) if self.tokenise else line

    def undo(self, line: str) -> str:
        """Running text from a line that was prepared so; its case stays as it is."""
        return detokenise(line, self.language) if self.tokenise else line


def detokenise(line: str, language: str) -> str:
    """Running text from a tokenised line: escapes undone, punctuation attached; case stays as it is."""
    detokenised: str = _detokeniser(language).detokenize(line.split(), return_str=True, unescape=True)
    return detokenised


def map_lines(function: Callable[[str], str], lines: Sequence[str], processes: int, label: str) -> list[str]:
    """`function` of every line, in order, computed by `processes` processes; progress goes to stderr."""
    processes = min(processes, math.ceil(len(lines) / _CHUNK))
    if processes <= 1:
        return [function(line) for line in tqdm.tqdm(lines, desc=label, unit=" lines", delay=2)]
    with ProcessPoolExecutor(processes) as pool:
        results = pool.map(function, lines, chunksize=_CHUNK)
        return list(tqdm.tqdm(results, total=len(lines), desc=label, unit=" lines", delay=2))


def prepare_pairs(
    pairs: Sequence[Pair], preparations: Sequence[LinePreparation], processes: int, label: str
) -> list[Pair]:
    """The pairs, the source prepared by the first of `preparations`, the target by the second."""
    source, target = (
        map_lines(preparation, [pair[side] for pair in pairs], processes, f"{label} {preparation.language}")
        for side, preparation in enumerate(preparations)
    )
    return list(zip(source, target, strict=True))


@cache
def _tokeniser(language: str) -> MosesTokenizer:
    # Importing it takes half a second, which those who ask for a corpus's name should not wait for.
    from sacremoses import MosesTokenizer

    return MosesTokenizer(language)


@cache
def _detokeniser(language: str) -> MosesDetokenizer:
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(language)
