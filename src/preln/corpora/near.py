"""Search for sentences of valid and test that train has too, or nearly so."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NoReturn

from preln.corpora.text import Pair
from preln.libraries import regex, tqdm

NEAR = 6
"""Letters in a row by which sentences are compared."""
SHORTEST_NEAR = 20
"""Letters of the shortest sentence that is compared: shorter ones, such as "Thank you very much.", recur in every
corpus, and a changed word leaves too few letters in a row. Train loses equal pairs of any length all the same."""
SYLLABLE = 2
"""Letters that a character of Chinese, Japanese or Korean counts for, at least."""
SAME = 0.6
"""Smallest share of a sentence's letters in a row that is in one other sentence, for both to count as nearly the same:
a changed word leaves more."""
RARER = 0.6
"""Share of a sentence's letters in a row, the rarest, by which others are looked for that may be nearly the same."""
LONGEST_NEAR = 3
"""Largest number of letters of the other sentence, for each of one: in a long document are those of any sentence."""
LEAKED, FEWEST_LEAKED = 0.05, 5
"""Smallest share and number of a part's pairs that are nearly in train, for a warning."""

_NO_LETTERS = r"[^\p{L}\p{M}]+"
_SYLLABLE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def of_leak(train: Sequence[Pair], parts: Mapping[str, Sequence[Pair]]) -> dict[str, str]:
    """A warning for each part, by its name, of which sentences are in train too, or nearly so: but for a word, case,
    digits or marks."""
    places = [(name, number) for name, part in parts.items() for number in range(len(part))]
    near: dict[str, set[int]] = {name: set() for name in parts}
    with tqdm.tqdm(total=2 * len(train), desc="compare valid and test with train", unit=" lines", delay=10) as bar:
        for side in (0, 1):
            sentences = [pair[side] for part in parts.values() for pair in part]
            for place in _near(sentences, (pair[side] for pair in train), bar):
                name, number = places[place]
                near[name].add(number)
    return {
        name: f"{len(near[name]):,} of {len(part):,} pairs have a side that is in train too, or nearly, such as "
        f"{part[min(near[name])][0][:60]!r}: scores say how well these are remembered; leave them out of train"
        for name, part in parts.items()
        if len(near[name]) >= max(LEAKED * len(part), FEWEST_LEAKED)
    }


def _near(sentences: Sequence[str], text: Iterable[str], bar: tqdm.tqdm[NoReturn]) -> Iterator[int]:
    """The numbers of the sentences of which most letters are in one sentence of the text."""
    known: dict[int, set[str]] = {}
    whole, longest = {}, {}
    for number, sentence in enumerate(sentences):
        letters, weight = _letters(sentence)
        if weight * len(letters) >= SHORTEST_NEAR:
            known[number] = set(_rows(letters, weight))
            whole[number] = len(known[number]) / _step(weight)
            longest[number] = LONGEST_NEAR * len(letters)
    frequency = Counter(chain.from_iterable(known.values()))
    places: dict[str, list[int]] = defaultdict(list)
    for number, of_sentence in known.items():
        # Nearly every sentence has the most frequent ones.
        rarest = sorted((frequency[row], row) for row in of_sentence)[: math.ceil(RARER * len(of_sentence))]
        for _, row in rarest:
            places[row].append(number)
    for line in text:
        letters, weight = _letters(line)
        rows = set(_rows(letters, weight, _step(weight)))
        hits = Counter(chain.from_iterable(places[row] for row in places.keys() & rows))
        for number, count in hits.items():
            # So many of the rarer ones are in a line that has `SAME` of all.
            if count < (SAME + RARER - 1) * whole[number] - 1 or len(letters) > longest[number]:
                continue
            if len(known[number] & rows) >= SAME * whole[number]:
                yield number
        bar.update()


def _letters(line: str) -> tuple[str, int]:
    """The letters of a line, and what each counts for."""
    letters = regex.sub(_NO_LETTERS, "", line.lower())
    are_syllables = not letters.isascii() and 2 * len(_SYLLABLE.findall(letters)) > len(letters)
    return letters, SYLLABLE if are_syllables else 1


def _rows(letters: str, weight: int, step: int = 1) -> list[str]:
    """The letters in a row, by which sentences are compared, from each `step`-th letter on."""
    length = NEAR // weight
    return [letters[start : start + length] for start in range(0, len(letters) - length + 1, step)]


def _step(weight: int) -> int:
    """From every so many letters of train on are rows compared; each row of valid and test is."""
    return SYLLABLE // weight
