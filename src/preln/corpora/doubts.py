"""Likely mistakes in a text, which are reported as warnings and change nothing.

A sentence and its translation are about equally long (Gale and Church, 1993): over some hundred lines of German and
English, the logarithms of the sides' lengths in characters have a correlation of about 0.95, and of 0.1 if one side is
shifted by a line or in another order.
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
"""Lines that are judged together: a text is cut into blocks of this length, or up to twice as long."""
FEWEST = 100
"""Smallest number of lines with two non-empty sides for a meaningful correlation."""
FARTHEST = 3
"""Largest line offset to try, in both directions."""
RELATED = 0.3
"""Smallest correlation of sides that are translations line by line."""
SURER = 0.3
"""Smallest gain in correlation for a shift to be reported."""
SPREAD = 0.1
"""Smallest standard deviation of the logarithms for a meaningful correlation."""

LOOKED_AT = 10_000
"""Lines whose words are counted, from all over the text."""
FEWEST_WORDS = 200
"""Smallest number of words in each side for a judgement."""
COMMON = 0.5
"""Smallest share of common words for which the sides count as one language: German and English share about 0.1, and two
halves of a text 0.6 to 0.9."""

OVERLAP = 0.5
"""Smallest share of the smaller of valid and test that is common to both for a warning."""

_WORD = re.compile(r"[^\W\d_]+")


def of_sides(source: Sequence[str], target: Sequence[str]) -> list[str]:
    """Warnings if the sides of a text seem to be in different orders or in one language."""
    return [doubt for doubt in (_of_order(source, target), _of_languages(source, target)) if doubt]


def of_parts(valid: Collection[tuple[str, str]], test: Collection[tuple[str, str]]) -> list[str]:
    """A warning if valid and test, as distinct pairs, seem to be one text."""
    common = len(set(valid) & set(test))
    if not common or common < OVERLAP * min(len(valid), len(test)):
        return []
    return [
        f"valid and test have {common:,} distinct pairs in common, of {len(valid):,} and {len(test):,}: scores of test "
        "say what those of valid say; give another text for one of them"
    ]


def _of_order(source: Sequence[str], target: Sequence[str]) -> str | None:
    source_lengths, target_lengths = (np.log1p([len(line.strip()) for line in side]) for side in (source, target))
    blocks = np.array_split(np.arange(len(source_lengths)), max(1, len(source_lengths) // BLOCK))
    shifts = [
        (block[0], len(block), _shift(source_lengths[block], target_lengths[block])) for block in blocks if len(block)
    ]
    if not (wrong := [(first, length, shift) for first, length, shift in shifts if shift != 0]):
        return None
    first, length, shift = wrong[0]
    relation = "do not go together" if shift is None else f"go together as line n and line n{shift:+d} of the target"
    return (
        f"by their lengths, the sides' lines {first + 1:,} to {first + length:,} {relation}; so it is in "
        f"{len(wrong):,} of {len(shifts):,} such blocks: see that line n of the target is the translation of line n of "
        "the source"
    )


def _shift(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> int | None:
    """The number of lines by which translations follow their sentences; 0 if the block is too small to judge, and None
    if no offset fits."""
    correlations = {shift: _correlation(source, target, shift) for shift in range(-FARTHEST, FARTHEST + 1)}
    if np.isnan(correlations[0]):
        return 0
    best = max(correlations, key=lambda shift: -1 if np.isnan(correlations[shift]) else correlations[shift])
    if correlations[best] > max(correlations[0], RELATED) + SURER:
        return best
    return 0 if correlations[0] >= RELATED else None


def _correlation(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64], shift: int) -> float:
    """The correlation of the lengths if translations follow `shift` lines later; NaN if the block is too small."""
    lines = len(source) - abs(shift)
    source, target = source[max(0, -shift) :][:lines], target[max(0, shift) :][:lines]
    used = (source > 0) & (target > 0)
    if used.sum() < FEWEST - abs(shift) or min(source[used].std(), target[used].std()) < SPREAD:
        return float("nan")
    return float(np.corrcoef(source[used], target[used])[0, 1])


def _of_languages(source: Sequence[str], target: Sequence[str]) -> str | None:
    step = max(1, len(source) // LOOKED_AT)
    source_words, target_words = (
        Counter(word for line in side[::step] for word in _WORD.findall(line.lower())) for side in (source, target)
    )
    totals = [source_words.total(), target_words.total()]
    if min(totals) < FEWEST_WORDS:
        return None
    common = sum(min(count / totals[0], target_words[word] / totals[1]) for word, count in source_words.items())
    if common < COMMON:
        return None
    return f"{common:.0%} of the sides' words are the same: are both in one language, or the same text?"
