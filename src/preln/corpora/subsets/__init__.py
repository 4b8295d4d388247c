"""Parts of a training text that may not be passed on: known by the hashes of their pairs, in their order.

Whoever has the whole text has the part. A list, `<name>.txt`, has one hash a line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib import resources

from preln.corpora import CorpusError
from preln.corpora.text import Pair

SIZES = {"50k": 50_428}
"""Pairs of the subsets of IWSLT14."""


def pair_hash(pair: Pair) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of the pair's sides, tokenised, with a tab between them."""
    return hashlib.sha256("\t".join(pair).encode()).hexdigest()[:16]


def select(pairs: Iterable[Pair], name: str) -> list[Pair]:
    """The pairs of the subset of that name, in the subset's order, whatever theirs is.

    Raises:
        CorpusError: if some are not among `pairs`.
    """
    known = {pair_hash(pair): pair for pair in pairs}
    wanted = resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="ascii").split()
    if missing := [each for each in wanted if each not in known]:
        raise CorpusError(
            f"{name}: {len(missing)} of its {len(wanted)} pairs are not in the text, the first of them that with the "
            f"hash {missing[0]}: the text is not the release's, or was tokenised in another way; give the release's "
            "archive, or leave out `subset`"
        )
    return [known[each] for each in wanted]
