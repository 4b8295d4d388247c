"""The loss of the unigram baseline: a model that knows only each piece's frequency in the training text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

_END = "</s>"
_SPECIAL = ("<s>", "<pad>", _END, "<unk>")
"""The entries of fairseq's dictionary that its file leaves out."""


def unigram_baseline(
    train: Mapping[str, int], valid: Mapping[str, int], vocabulary: int, label_smoothing: float
) -> float:
    """The label-smoothed loss on `valid`, in bits a token, of predicting every token by its frequency in `train`. Both
    are counts of pieces and of the end of a sentence; the dictionary has `vocabulary` entries.

    The prediction is smoothed as the labels are, over all entries but the correct one, as in fairseq. If labels are not
    smoothed and an entry of `valid` is missing from `train`, one is added to the count of every entry, as the loss
    would be infinite.
    """
    smoothed = label_smoothing / (vocabulary - 1)
    kept = 1 - label_smoothing - smoothed
    added = 1 if valid.keys() - train.keys() and not label_smoothing else 0
    train_tokens, valid_tokens = sum(train.values()) + added * vocabulary, sum(valid.values())
    shares = {piece: kept * (count + added) / train_tokens + smoothed for piece, count in train.items()}
    absent_share = kept * added / train_tokens + smoothed
    absent_bits = -math.log2(absent_share) if absent_share else math.inf
    bits = {piece: -math.log2(share) for piece, share in shares.items()}
    correct = math.fsum(count * bits.get(piece, absent_bits) for piece, count in valid.items()) / valid_tokens
    absent = vocabulary - len(bits)
    spread = (math.fsum(bits.values()) + (absent * absent_bits if absent else 0.0)) if smoothed else 0.0
    return kept * correct + smoothed * spread


def of_prepared(prepared: Path, target: str, label_smoothing: float) -> float | None:
    """The unigram baseline of a prepared corpus in the target language; None if its pieces were deleted."""
    pieces = {part: prepared / "bpe" / f"{part}.{target}" for part in ("train", "valid")}
    dictionary = prepared / "binary" / f"dict.{target}.txt"
    if not all(path.is_file() for path in (dictionary, *pieces.values())):
        return None
    counts = {part: _counts(path) for part, path in pieces.items()}
    with dictionary.open(encoding="utf-8") as lines:
        vocabulary = sum(1 for _ in lines) + len(_SPECIAL)
    return unigram_baseline(counts["train"], counts["valid"], vocabulary, label_smoothing)


def _counts(path: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            counts.update([*line.split(), _END])
    return counts
