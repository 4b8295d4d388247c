"""Writing a study for the user's parallel text, with settings derived from its files."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import yaml

from preln.commands import cost
from preln.config import StudyError, validate
from preln.config.base import FORMS, NAMES
from preln.corpora import CorpusError
from preln.corpora.languages import language_of
from preln.corpora.text import lines_of
from preln.records.files import write_text

PARTS = {"valid": ("valid", "dev", "val", "validation"), "test": ("test", "tst")}
"""Names of a part's files, in place of `train`."""
BATCH_TOKENS = 1024
UPDATES = 850
"""Updates after which small models with different placements differ, as in the default study."""
FEWEST_PAIRS = 100
"""Smallest number of pairs: fewer leave nothing to learn after the held-out pairs."""
MOST_EPOCHS = 50
PIECES_A_WORD = 1.5
"""BPE pieces in a word, about: 1.6 in English with 2,000 pieces, and fewer with more."""
WARMUP_SHARE = 0.4
"""The share of a run's updates in its warm-up."""

_JOINED = re.compile(r"\w[.,!?](\s|$)")
_APART = re.compile(r"\s[.,!?](\s|$)")


@dataclass(frozen=True)
class TextStatistics:
    """Statistics of a parallel text.

    Attributes:
        pairs: lines in each side.
        lengths: counts of pairs by the approximate lengths of source and target, in BPE pieces.
        tokenised: whether punctuation is separate from words.
    """

    pairs: int
    lengths: Counter[tuple[int, int]]
    tokenised: bool


def look(source: Path, target: Path) -> TextStatistics:
    """Read both sides once.

    Raises:
        CorpusError: if a side cannot be read, or they have different numbers of lines.
    """
    joined, apart = 0, 0
    counts = [0, 0]
    lengths = Counter[tuple[int, int]]()
    for lines in zip_longest(lines_of(source, "look at"), lines_of(target, "look at")):
        for side, line in enumerate(lines):
            if line is None:
                continue
            counts[side] += 1
            joined += bool(_JOINED.search(line))
            apart += bool(_APART.search(line))
        source_length, target_length = (round(len((line or "").split()) * PIECES_A_WORD) + 1 for line in lines)
        lengths[source_length, target_length] += 1
    if counts[0] != counts[1]:
        raise CorpusError(
            f"{source} has {counts[0]:,} lines and {target} {counts[1]:,}; give files whose lines are translations of "
            "each other"
        )
    return TextStatistics(counts[0], lengths, tokenised=apart > 20 * joined)


def beside(train: Path, part: str) -> Path | None:
    """The file of another part beside train's, such as dev.nl beside train.nl."""
    names = [train.name.replace("train", name, 1) for name in PARTS[part] if "train" in train.name]
    return next((path for name in names if (path := train.with_name(name)).is_file()), None)


NO_LANGUAGES = {"txt", "tok", "raw", "bpe", "src", "tgt", "trg", "ref", "hyp"}
"""Endings of text files that look like a language's code."""


def language(path: Path, option: str, value: str | None) -> str:
    """The language of a file: the option's value, or else the end of the file's name, such as .nl or .nl.txt.

    Raises:
        StudyError: if that is not a language's code.
    """
    endings = [ending for ending in path.name.split(".")[1:] if ending not in NO_LANGUAGES]
    code = value or (endings[-1] if endings else "")
    try:
        return language_of(code).tag
    except ValueError as error:
        if value is not None:
            raise StudyError(f"{option}: {error}") from None
        raise StudyError(f"{path}: its name does not end in a language, such as .nl; give it with {option}") from None


def write(source: Path, target: Path, languages: tuple[str, str], out: Path) -> TextStatistics:
    """Write a study for a laptop: the paper's two placements, with and without a warm-up.

    Args:
        source, target: the sides of the training text.
        languages: the languages of source and target.
        out: the file to write, after which the study is named.

    Raises:
        PrelnError: if a side cannot be used, or the file exists.
    """
    if out.exists():
        raise StudyError(f"{out}: is there already; name another file with --out")
    if not re.match(NAMES, out.stem):
        raise StudyError(f"--out {out}: the study is named after the file, whose name {FORMS[NAMES]}")
    if languages[0] == languages[1]:
        raise StudyError(
            f"{source} and {target}: both are in {languages[0]}; give a text and its translation, or give their "
            "languages with --source-language and --target-language"
        )
    statistics = look(source, target)
    if statistics.pairs < FEWEST_PAIRS:
        raise StudyError(f"{source}: {statistics.pairs:,} pairs of sentences; a study needs at least {FEWEST_PAIRS}")
    parts = {"train": (source, target)}
    for part in PARTS:
        source_file, target_file = beside(source, part), beside(target, part)
        if source_file and target_file:
            parts[part] = source_file, target_file
    text = _text(statistics, parts, languages, out.stem)
    validate(yaml.safe_load(text), str(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, text)
    return statistics


def _text(
    statistics: TextStatistics, parts: dict[str, tuple[Path, Path]], languages: tuple[str, str], name: str
) -> str:
    epoch_updates = max(1, cost.batches(statistics.lengths, BATCH_TOKENS))
    epochs = min(MOST_EPOCHS, max(1, round(UPDATES / epoch_updates)))
    warmup = max(1, 10 * round(WARMUP_SHARE * epochs * epoch_updates / 10))
    vocabulary = 2000 if statistics.pairs < 30_000 else 4000 if statistics.pairs < 100_000 else 10_000
    lines = [
        f"    {part}: {_flow({'source': str(source), 'target': str(target)})}"
        for part, (source, target) in parts.items()
    ]
    if len(parts) < 3:
        missing = " and ".join(part for part in PARTS if part not in parts)
        held_out = min(1000, max(10, statistics.pairs // 40))
        lines.append(f"    held_out: {held_out}  # pairs taken from train for {missing}")
    return f"""\
# {statistics.pairs:,} pairs of sentences. `preln plan` estimates the study's cost; config/README.md in preln's
# repository lists every key.
study: {_flow(name)}  # its results are in results/{name}/ (in a module: below its prefix)
corpora:
  mine:
    source: files
    source_language: {_flow(languages[0])}
    target_language: {_flow(languages[1])}
{chr(10).join(lines)}
    # The text {"looks tokenised" if statistics.tokenised else "is running text, for Moses if it knows the language"}.
    tokenise: {_flow(not statistics.tokenised)}
    lowercase: true  # false keeps capitals
    vocabulary: {vocabulary}  # BPE pieces, at most
translation:
  # A small model for minutes on a laptop. config/iwslt14-50k.yaml there has the paper's size, for a GPU.
  settings:
    corpus: mine
    encoder_layers: 6
    decoder_layers: 6
    width: 64
    ffn_width: 128
    heads: 4
    batch_tokens: {BATCH_TOKENS}
    epochs: {epochs}  # some {epoch_updates:,} updates each
    optimizer: adam
    learning_rate: 2e-3
    schedule: inverse-sqrt
    anchor: hold  # without a warm-up, the rate is constant for decay_period updates
    decay_period: {warmup}
  runs:
    # The paper's question: does Post-LN need the warm-up, and Pre-LN not? A list gives a run for each value.
    - placement: [post, pre]
      warmup: [0, {warmup}]
      seed: 1  # [1, 2, 3] shows the spread
"""


def _flow(value: Any) -> str:
    """A value in YAML, on one line."""
    return yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("...\n").strip()
