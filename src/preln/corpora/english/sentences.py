"""English sentences as the models read them (appendix A.2): split by spaCy, then as Moses parts words, lower-cased."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import spacy
from sacremoses import MosesPunctNormalizer
from spacy.language import Language

from preln.corpora.tokenisation import LinePreparation

LONGEST_PARAGRAPH = 100_000
"""Characters; a longer paragraph is cut, for the sentence splitter holds the whole of one."""

_TOKENISE = LinePreparation("en")


def split(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph."""
    for start in range(0, len(paragraph), LONGEST_PARAGRAPH):
        for sentence in _splitter()(paragraph[start : start + LONGEST_PARAGRAPH]).sents:
            if text := sentence.text.strip():
                yield text


def normalised(sentence: str) -> str:
    """A sentence, its punctuation normalised and its words parted as Moses does, and lower-cased."""
    return _TOKENISE(_normaliser().normalize(sentence))


@cache
def _splitter() -> Language:
    # The paper names spaCy and no model of it; its rules need none.
    splitter = spacy.blank("en")
    splitter.add_pipe("sentencizer")
    return splitter


@cache
def _normaliser() -> MosesPunctNormalizer:
    return MosesPunctNormalizer("en")
