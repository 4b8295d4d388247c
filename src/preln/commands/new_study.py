"""A study for a parallel text of one's own, written from what can be seen in its files."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from preln.commands import cost
from preln.config import StudyError, validate
from preln.config.base import FORMS, LANGUAGES, NAMES
from preln.config.corpora import Language
from preln.corpora import CorpusError
from preln.corpora.text import lines_of
from preln.records.files import write_text

PARTS = {"valid": ("valid", "dev", "val", "validation"), "test": ("test", "tst")}
"""What the files of a part are called, in the place of `train`."""
BATCH_TOKENS = 1024
UPDATES = 850
"""Updates after which a small model tells the placements apart, as in the default study."""
FEWEST_PAIRS = 100
"""With fewer, there is nothing to learn beside what is held out."""
MOST_EPOCHS = 50
PIECES_A_WORD = 1.5
"""BPE pieces of a word, about: 1.6 in English with 2,000 pieces, and fewer with more."""
OF_A_RUN = 0.4
"""The part of a run that its warm-up takes."""

_JOINED = re.compile(r"\w[.,!?](\s|$)")
_APART = re.compile(r"\s[.,!?](\s|$)")


@dataclass(frozen=True)
class Seen:
    """What is seen in a parallel text.

    Attributes:
        pairs: lines of each side.
        lengths: how many pairs have a source and a target of these lengths, in BPE pieces, about.
        tokenised: whether punctuation stands apart from words.
    """

    pairs: int
    lengths: Counter[tuple[int, int]]
    tokenised: bool


def look(source: Path, target: Path) -> Seen:
    """Read both sides once.

    Raises:
        CorpusError: if one cannot be read, or they have unlike numbers of lines.
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
    return Seen(counts[0], lengths, tokenised=apart > 20 * joined)


def beside(train: Path, part: str) -> Path | None:
    """The file of another part that is beside that of train, such as dev.nl beside train.nl."""
    names = [train.name.replace("train", called, 1) for called in PARTS[part] if "train" in train.name]
    return next((path for name in names if (path := train.with_name(name)).is_file()), None)


NO_LANGUAGES = {"txt", "tok", "raw", "bpe", "src", "tgt", "trg", "ref", "hyp"}
"""Endings of names of texts that have as many letters as a language's code."""


def language(path: Path, option: str, said: str | None) -> str:
    """The language of a file: what is said, or else the end of its name, such as .nl or .nl.txt.

    Raises:
        StudyError: if that is no language's code.
    """
    endings = [ending for ending in path.name.split(".")[1:] if ending not in NO_LANGUAGES]
    code = said or (endings[-1] if endings else "")
    try:
        return str(TypeAdapter(Language).validate_python(code))
    except ValidationError:
        if said is not None:
            raise StudyError(f"{option} {said}: {FORMS[LANGUAGES]}") from None
        raise StudyError(
            f"{path}: its name does not end in a language, such as .nl; say it with {option}, in two or three letters"
        ) from None


def write(source: Path, target: Path, languages: tuple[str, str], out: Path) -> Seen:
    """Write a study of the paper's two placements, with and without a warm-up, that a laptop trains.

    Args:
        source, target: the sides of the training text.
        languages: theirs.
        out: the file to write; it is the study's name.

    Raises:
        PrelnError: if a side cannot be used, or the file is there already.
    """
    if out.exists():
        raise StudyError(f"{out}: is there already; name another file with --out")
    if not re.match(NAMES, out.stem):
        raise StudyError(f"--out {out}: the study is named after the file, whose name {FORMS[NAMES]}")
    if languages[0] == languages[1]:
        raise StudyError(
            f"{source} and {target}: both are in {languages[0]}; give a text and its translation, or say their "
            "languages with --source-language and --target-language"
        )
    seen = look(source, target)
    if seen.pairs < FEWEST_PAIRS:
        raise StudyError(f"{source}: has {seen.pairs:,} pairs of sentences; a study needs {FEWEST_PAIRS} at least")
    parts = {"train": (source, target)}
    for part in PARTS:
        found = beside(source, part), beside(target, part)
        if found[0] and found[1]:
            parts[part] = found[0], found[1]
    text = _text(seen, parts, languages, out.stem)
    validate(yaml.safe_load(text), str(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, text)
    return seen


def _text(seen: Seen, parts: dict[str, tuple[Path, Path]], languages: tuple[str, str], name: str) -> str:
    an_epoch = max(1, cost.batches(seen.lengths, BATCH_TOKENS))
    epochs = min(MOST_EPOCHS, max(1, round(UPDATES / an_epoch)))
    warmup = max(1, 10 * round(OF_A_RUN * epochs * an_epoch / 10))
    vocabulary = 2000 if seen.pairs < 30_000 else 4000 if seen.pairs < 100_000 else 10_000
    lines = [f"    {part}: {_flow({'source': str(one), 'target': str(other)})}" for part, (one, other) in parts.items()]
    if len(parts) < 3:
        missing = " and ".join(part for part in PARTS if part not in parts)
        held_out = min(1000, max(10, seen.pairs // 40))
        lines.append(f"    held_out: {held_out}  # pairs taken from train for {missing}")
    return f"""\
# {seen.pairs:,} pairs of sentences. `preln plan` says what the study costs; config/README.md in preln's repository
# lists every key.
study: {_flow(name)}  # its results are in results/{name}/ (in a module: below its prefix)
corpora:
  mine:
    source: files
    source_language: {_flow(languages[0])}
    target_language: {_flow(languages[1])}
{chr(10).join(lines)}
    # The text {"looks tokenised already" if seen.tokenised else "is running text, which Moses tokenises"}.
    tokenise: {_flow(not seen.tokenised)}
    lowercase: true  # false keeps capitals
    vocabulary: {vocabulary}  # BPE pieces, at most
translation:
  # A small model, which a laptop trains in minutes. config/iwslt14-50k.yaml there has the paper's size, for a GPU.
  settings:
    corpus: mine
    encoder_layers: 6
    decoder_layers: 6
    width: 64
    ffn_width: 128
    heads: 4
    batch_tokens: {BATCH_TOKENS}
    epochs: {epochs}  # some {an_epoch:,} updates each
    optimizer: adam
    learning_rate: 2e-3
    schedule: inverse-sqrt
    anchor: hold  # without a warm-up, the peak rate is held for decay_period updates
    decay_period: {warmup}
  runs:
    # The paper's question: does Post-LN need the warm-up, and Pre-LN not? A list gives a run for each value.
    - placement: [post, pre]
      warmup: [0, {warmup}]
      seed: 1  # [1, 2, 3] says how much chance matters
"""


def _flow(value: Any) -> str:
    """A value as YAML has it in a line."""
    return yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("...\n").strip()
