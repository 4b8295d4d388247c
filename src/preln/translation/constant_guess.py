"""The loss of a constant guess: of a model that has learned how frequent each piece is, and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

_END = "</s>"
_OTHERS = ("<s>", "<pad>", "<unk>")
"""What fairseq's dictionary has beside the pieces and the end of a sentence."""


def constant_guess(
    train: Mapping[str, int], valid: Mapping[str, int], vocabulary: int, label_smoothing: float
) -> float:
    """The label-smoothed loss on `valid`, in bits a token, of the best guess that `train` gives without looking at the
    sentence: every entry by its frequency there, smoothed as the labels are. If the labels are not smoothed, and
    an entry is not in `train`, which would be impossible, every entry of the dictionary is counted
    once more than it is there.

    Args:
        train: how often each piece, or the end of a sentence, is in the training text.
        valid: the same of the text that the loss is of.
        vocabulary: entries of the dictionary.
        label_smoothing: of the loss, as fairseq spreads it: over all entries but the right one.
    """
    other = label_smoothing / (vocabulary - 1)
    own = 1 - label_smoothing - other
    more = 1 if valid.keys() - train.keys() and not label_smoothing else 0
    tokens, counted = sum(train.values()) + more * vocabulary, sum(valid.values())
    guess = {piece: own * (count + more) / tokens + other for piece, count in train.items()}
    share_of_absent = own * more / tokens + other
    of_absent = -math.log2(share_of_absent) if share_of_absent else math.inf
    bits = {piece: -math.log2(share) for piece, share in guess.items()}
    right = math.fsum(count * bits.get(piece, of_absent) for piece, count in valid.items()) / counted
    absent = vocabulary - len(bits)
    spread = (math.fsum(bits.values()) + (absent * of_absent if absent else 0.0)) if other else 0.0
    return own * right + other * spread


def of_prepared(prepared: Path, target: str, label_smoothing: float) -> float | None:
    """The same of a prepared corpus with this target language; None where its pieces are no longer there."""
    pieces = {part: prepared / "bpe" / f"{part}.{target}" for part in ("train", "valid")}
    dictionary = prepared / "binary" / f"dict.{target}.txt"
    if not all(path.is_file() for path in (dictionary, *pieces.values())):
        return None
    counts = {part: _counts(path) for part, path in pieces.items()}
    with dictionary.open(encoding="utf-8") as lines:
        vocabulary = sum(1 for _ in lines) + len((_END, *_OTHERS))
    return constant_guess(counts["train"], counts["valid"], vocabulary, label_smoothing)


def _counts(path: Path) -> Counter[str]:
    """How often each piece and the end of a sentence are in a text."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            counts.update([*line.split(), _END])
    return counts
