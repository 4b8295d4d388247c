"""The text that comes with the package, compressed: sentence pairs, English documents, and pairs of two tasks.

`preln.config.embedded` says how far it goes. It was made by a grammar of our own; the licence is this package's.
"""

from __future__ import annotations

import bz2
from importlib import resources


def pairs() -> list[tuple[str, str]]:
    """German-English sentence pairs, cased and punctuated, not tokenised; no German sentence occurs twice."""
    return [(german, english) for german, english in _rows("pairs")]


def documents() -> list[list[str]]:
    """English documents as lists of sentences; most sentences of a document are about the same two persons."""
    return [document.splitlines() for document in _text("documents.txt").split("\n\n")]


def task(relation: str) -> list[tuple[str, str, bool]]:
    """Distinct pairs of English sentences, and whether the relation holds; it does in half of them.

    Args:
        relation: `paraphrase`, the second sentence is the first with its adverbial of time in front; or `entailment`,
            it is the first without this adverbial. In the other half, the subject, place, time or negation differs.
    """
    return [(first, second, label == "1") for label, first, second in _rows(relation)]


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in _text(f"{name}.tsv").splitlines()]


def _text(name: str) -> str:
    compressed = resources.files(__name__).joinpath(f"{name}.bz2").read_bytes()
    return bz2.decompress(compressed).decode("utf-8")
