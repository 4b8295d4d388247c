"""Text without a download: a grammar generates the embedded corpus, the embedded English text and its tasks.

A reader of the science needs none of this package. `generate` and the functions of `english` are all that others use.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from preln.generated_text.constructions import CONSTRUCTIONS, WEIGHTS
from preln.generated_text.sampling import Sampler

__all__ = ["generate"]

# A draw that keeps repeating known sentences says that the grammar is all but exhausted.
MAX_CONSECUTIVE_REPEATS = 1000


def generate(pairs: int, seed: int) -> list[tuple[str, str]]:
    """German-English sentence pairs, no German sentence among them twice.

    Args:
        pairs: the number of sentence pairs, at least 0.
        seed: of the only generator used; equal `pairs` and `seed` give equal lists in every
            process.

    Returns:
        (German, English) sentences, cased and punctuated, not tokenised.

    Raises:
        ValueError: `pairs` is negative, or more than the grammar yields.
    """
    if pairs < 0:
        raise ValueError(f"pairs must be at least 0, not {pairs}")
    rng = Random(seed)
    sampler = Sampler(rng)
    return distinct_pairs(lambda: rng.choices(CONSTRUCTIONS, WEIGHTS)[0](sampler), pairs)


def distinct_pairs(draw: Callable[[], tuple[str, str]], pairs: int) -> list[tuple[str, str]]:
    """The first `pairs` results of `draw` with distinct first sides, in the order drawn.

    Raises:
        ValueError: `draw` only repeats itself before there are enough.
    """
    found: dict[str, str] = {}
    repeats = 0
    while len(found) < pairs:
        german, english = draw()
        if german in found:
            repeats += 1
            if repeats == MAX_CONSECUTIVE_REPEATS:
                raise ValueError(f"only {len(found)} distinct sentences of {pairs} found; ask for fewer pairs")
        else:
            repeats = 0
            found[german] = english
    return list(found.items())
