"""What in a text looks like a mistake, though it can be trained on: told as a warning, and nothing is left out for it.

A sentence and its translation are about equally long (Gale and Church, 1993), which can be seen without a dictionary:
over some hundred lines the logarithms of the sides' lengths in characters have a correlation of about 0.95 in German
and English, and of 0.1 if one side is shifted by a line or is in another order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from preln.libraries import np

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK = 500
"""Lines that are judged together; a text is cut into blocks of so many, or up to twice as many."""
FEWEST = 100
"""Lines, without those that have an empty side, below which correlations say nothing."""
FARTHEST = 3
"""Lines by which a side is tried to be shifted, in both directions."""
RELATED = 0.3
"""The correlation below which sides are not translations line by line."""
SURER = 0.3
"""By how much a shift's correlation must exceed the one without a shift."""
SPREAD = 0.1
"""Standard deviation of the logarithms below which the lines are too equally long to tell."""

LOOKED_AT = 10_000
"""Lines whose words are counted, from all over the text."""
FEWEST_WORDS = 200
"""Of each side."""
COMMON = 0.5
"""Share of words from which the sides are taken for one language: it is about 0.1 in German and English, and 0.6 to
0.9 in two halves of a text."""

OVERLAP = 0.5
"""Share of the smaller of valid and test, from which they are one text."""

_WORD = re.compile(r"[^\W\d_]+")


def of_sides(source: Sequence[str], target: Sequence[str]) -> list[str]:
    """Whether the sides of a text, line by line, seem to be in unlike order or in one language."""
    return [doubt for doubt in (_of_order(source, target), _of_languages(source, target)) if doubt]


def of_parts(valid: Collection[tuple[str, str]], test: Collection[tuple[str, str]]) -> list[str]:
    """Whether valid and test, as distinct pairs, are one text."""
    common = len(set(valid) & set(test))
    if not common or common < OVERLAP * min(len(valid), len(test)):
        return []
    return [
        f"valid and test have {common:,} distinct pairs in common, of {len(valid):,} and {len(test):,}: scores of test "
        "say what those of valid say; give another text for one of them"
    ]


def _of_order(source: Sequence[str], target: Sequence[str]) -> str | None:
    one, other = (np.log1p([len(line.strip()) for line in side]) for side in (source, target))
    blocks = np.array_split(np.arange(len(one)), max(1, len(one) // BLOCK))
    found = [(block[0], len(block), _shift(one[block], other[block])) for block in blocks if len(block)]
    if not (wrong := [(first, length, shift) for first, length, shift in found if shift != 0]):
        return None
    first, length, shift = wrong[0]
    what = "do not go together" if shift is None else f"go together as line n and line n{shift:+d} of the target"
    return (
        f"by their lengths, the sides' lines {first + 1:,} to {first + length:,} {what}; so it is in {len(wrong):,} of "
        f"{len(found):,} such blocks: see that line n of the target is the translation of line n of the source"
    )


def _shift(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> int | None:
    """The number of lines by which a translation stands behind its sentence; none where there is no telling where it
    stands. Where a block says nothing, it is 0."""
    found = {shift: _correlation(source, target, shift) for shift in range(-FARTHEST, FARTHEST + 1)}
    if np.isnan(found[0]):
        return 0
    best = max(found, key=lambda shift: -1 if np.isnan(found[shift]) else found[shift])
    if found[best] > max(found[0], RELATED) + SURER:
        return best
    return 0 if found[0] >= RELATED else None


def _correlation(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64], shift: int) -> float:
    """The correlation of the lengths if translations stand so many lines behind; not a number if they cannot tell."""
    lines = len(source) - abs(shift)
    one, other = source[max(0, -shift) :][:lines], target[max(0, shift) :][:lines]
    told = (one > 0) & (other > 0)
    if told.sum() < FEWEST - abs(shift) or min(one[told].std(), other[told].std()) < SPREAD:
        return float("nan")
    return float(np.corrcoef(one[told], other[told])[0, 1])


def _of_languages(source: Sequence[str], target: Sequence[str]) -> str | None:
    step = max(1, len(source) // LOOKED_AT)
    one, other = (
        Counter(word for line in side[::step] for word in _WORD.findall(line.lower())) for side in (source, target)
    )
    words = [one.total(), other.total()]
    if min(words) < FEWEST_WORDS:
        return None
    common = sum(min(count / words[0], other[word] / words[1]) for word, count in one.items())
    if common < COMMON:
        return None
    return f"{common:.0%} of the sides' words are the same: are both in one language, or the same text?"
