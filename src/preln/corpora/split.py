"""The split into train, valid and test: held-out pairs are chosen by seed, and removed from train."""

from __future__ import annotations

import random
from dataclasses import replace

from preln.corpora import CorpusError
from preln.corpora.text import MOST_PIECES, Drops, Part, without


def divide(parts: dict[str, Part], held_out: int, seed: int) -> dict[str, Part]:
    """Complete train, valid and test from train and the given parts.

    A missing part becomes `held_out` distinct pairs of train, chosen by `seed` of those that every model can read.
    Train loses every copy of a pair in valid or test. These are counted as dropped, pairs that moved to a part are not.

    Raises:
        CorpusError: if no pair is left for train, or too few are short enough to be held out.
    """
    evaluation = {name: part for name, part in parts.items() if name != "train"}
    held = {pair for part in evaluation.values() for pair in part.pairs}
    train = without(parts["train"], lambda pair: "held_out" if pair in held else None)
    missing = [name for name in ("valid", "test") if name not in evaluation]
    candidates = dict.fromkeys(train.pairs)
    # A line has at most a piece for each character, and one for its beginning.
    distinct = [pair for pair in candidates if max(map(len, pair)) < MOST_PIECES]
    wanted = held_out * len(missing)
    if len(candidates) <= wanted:
        raise CorpusError(
            f"train has {len(candidates)} distinct pairs that are not in valid or test, of which {wanted} are "
            "to be held out, so that none is left; give more text, or lower held_out"
        )
    if len(distinct) < wanted:
        raise CorpusError(
            f"train has {len(distinct)} distinct pairs of under {MOST_PIECES:,} characters a side, of which {wanted} "
            "are to be held out; cut the text into sentences, or lower held_out"
        )
    chosen = random.Random(seed).sample(distinct, wanted)
    moved = set(chosen)
    train = without(train, lambda pair: "held_out" if pair in moved else None)
    # Their copies alone are dropped.
    train = replace(train, drops=train.drops - Drops(held_out=wanted))
    if missing and (long := len(candidates) - len(distinct)):
        warning = (
            f"{long:,} pairs of train were no candidates for {' and '.join(missing)}, as a side has {MOST_PIECES:,} "
            "characters or more: are they sentences?"
        )
        train = replace(train, warnings=(*train.warnings, warning))
    for number, name in enumerate(missing):
        evaluation[name] = Part(chosen[number * held_out : (number + 1) * held_out])
    return {"train": train, "valid": evaluation["valid"], "test": evaluation["test"]}
