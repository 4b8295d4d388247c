"""Constant guesses of the texts of runs that were trained before each run recorded its own: `constant_guesses.csv`.

They were computed by `preln.translation.unigram_baseline` from the prepared texts; one is known to two digits alone.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from importlib.resources import files
from typing import Any

from preln.config import RunSettings


def known(settings: RunSettings, record: dict[str, Any]) -> float:
    """The unigram baseline of a run's text, in bits a token, by the run's settings and its run.json; NaN where it is
    not known."""
    corpus = record.get("corpus", {})
    texts = [file["sha256"] for file in corpus.get("parts", {}).get("train", {}).get("files", {}).values()]
    vocabulary = corpus.get("settings", {}).get("vocabulary")
    guesses = (_load().get((text, vocabulary, settings.label_smoothing)) for text in texts)
    return next((bits for bits in guesses if bits is not None), math.nan)


@cache
def _load() -> dict[tuple[str, int, float], float]:
    """By the checksum of the target text, the vocabulary's size and the label smoothing."""
    text = files(__package__).joinpath("constant_guesses.csv").read_text(encoding="utf-8")
    return {
        (row["train_sha256"], int(row["vocabulary"]), float(row["label_smoothing"])): float(row["bits"])
        for row in csv.DictReader(text.splitlines())
    }
