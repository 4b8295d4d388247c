"""Writing a study for the user's parallel text, with settings derived from its files."""

from __future__ import annotations

import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from preln.commands import cost
from preln.config import StudyError, validate
from preln.config.base import FORMS, NAMES
from preln.corpora import CorpusError, bpe, tables
from preln.corpora.languages import language_of
from preln.corpora.streams import COMPRESSED
from preln.corpora.text import MOST_PIECES, Pair, Part, in_words, lines_of, paired, screen, write_lines
from preln.records.files import write_text

PARTS = {"valid": ("valid", "dev", "val", "validation"), "test": ("test", "tst")}
"""Names of a part's files, in place of `train`."""
BATCH_TOKENS = 1024
UPDATES = 850
"""Updates after which small models with different placements differ, as in the default study."""
FEWEST_PAIRS = 100
"""Smallest number of pairs: fewer leave nothing to learn after the held-out pairs."""
MOST_EPOCHS = 50
SAMPLE = 5000
"""Pairs that are cut into pieces to see how many they are."""
PIECES_A_CHARACTER = 2
"""Pieces of the vocabulary for each character of the text, at least: those of many characters have few merges else."""
PIECES_A_PAIR = 0.4
"""Pieces of a small text for each pair, as 2,000 suit 5,000 pairs (Sennrich and Zhang, 2019): with more, whole phrases
become pieces that are seen once."""
MOST_VOCABULARY = 64_000
WARMUP_SHARE = 0.4
"""The share of a run's updates in its warm-up."""

_JOINED = re.compile(r"\w[.,!?](\s|$)")
_APART = re.compile(r"\s[.,!?](\s|$)")


@dataclass(frozen=True)
class TextStatistics:
    """A parallel text in numbers: its pairs, whether punctuation is separate from words, the number of BPE pieces that
    suits it, the pairs to hold out for a part that is not given, and about how many batches it has."""

    pairs: int
    tokenised: bool
    vocabulary: int
    held_out: int
    epoch_updates: int


@dataclass(frozen=True)
class Text:
    """The files of one part of the user's text: two of lines, or a table, which is both, with its columns."""

    source: Path
    target: Path
    columns: tables.Columns | None = None

    @property
    def is_read_as_it_is(self) -> bool:
        """A study can name the files: they are lines and not compressed, as the preparation reads them."""
        return self.columns is None and not {path.suffix.lower() for path in (self.source, self.target)} & {*COMPRESSED}

    def pairs(self) -> Iterator[Pair]:
        """The pairs one by one.

        Raises:
            CorpusError: if a side cannot be read, or they have different numbers of lines.
        """
        if self.columns:
            yield from tables.pairs(self.source, self.columns)
            return
        sources, targets = (lines_of(path, "look at", unpack=True) for path in (self.source, self.target))
        yield from paired(sources, targets, self.source, self.target)


def look(pairs: Iterable[Pair], missing_parts: int) -> TextStatistics:
    """Read a text once, and cut a sample of it into pieces. `missing_parts` says how many of valid and test are
    still to be held out of it.

    Raises:
        CorpusError: if it cannot be read, or has no sentences.
    """
    joined, apart, count = 0, 0, 0
    characters: set[str] = set()
    sample: list[Pair] = []
    choice = random.Random(1)
    for count, pair in enumerate(pairs, start=1):
        for line in pair:
            joined += bool(_JOINED.search(line))
            apart += bool(_APART.search(line))
            characters.update(line)
        # Every pair has the same chance to be in the sample.
        if count <= SAMPLE:
            sample.append(pair)
        elif (place := choice.randrange(count)) < SAMPLE:
            sample[place] = pair
    if count < FEWEST_PAIRS:
        raise CorpusError(f"{count:,} pairs of sentences; a study needs at least {FEWEST_PAIRS}")
    # Abbreviations keep their full stop in tokenised text, and French has spaces before some marks in running text.
    tokenised = apart > 2 * joined
    usual = min(2000, PIECES_A_PAIR * count) if count < 30_000 else 4000 if count < 100_000 else 10_000
    vocabulary = min(MOST_VOCABULARY, 100 * math.ceil(max(usual, PIECES_A_CHARACTER * len(characters)) / 100))
    held_out = min(1000, max(10, count // 40))
    lengths = _lengths(sample, vocabulary)
    share = (count - missing_parts * held_out) / len(sample)
    return TextStatistics(
        count, tokenised, vocabulary, held_out, max(1, round(share * cost.batches(lengths, BATCH_TOKENS)))
    )


def _lengths(sample: list[Pair], vocabulary: int) -> Counter[tuple[int, int]]:
    """The lengths of pairs, in pieces with the end of sentence. Marks that tokenisation would separate from their words
    change them little."""
    part = screen(Part(sample))
    if not part.pairs:
        raise CorpusError(f"no usable pair of sentences in a sample of {len(sample):,}: {in_words(part.drops)}")
    sides = [[pair[side].lower() for pair in part.pairs] for side in (0, 1)]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(side) for side in (0, 1)]
        for file, lines in zip(files, sides, strict=True):
            write_lines(file, lines)
        model = bpe.train(files, vocabulary)
    pieces = ([len(line) + 1 for line in bpe.encode(model, lines, 1)] for lines in sides)
    return Counter(pair for pair in zip(*pieces, strict=True) if max(pair) <= MOST_PIECES + 1)


def beside(train: Text, part: str) -> tuple[Path, Path] | None:
    """The files of another part beside train's, such as dev.nl and dev.fr beside train.nl and train.fr."""
    for name in PARTS[part]:
        source, target = (_named(path, name) for path in (train.source, train.target))
        if source and target:
            return source, target
    return None


def _named(train: Path, name: str) -> Path | None:
    """The file beside a file of train that has a name in place of `train`, also if it is compressed otherwise."""
    stem = tables.stem(train)
    if "train" not in stem:
        return None
    endings = dict.fromkeys((train.name.removeprefix(stem), "", *COMPRESSED))
    candidates = (train.with_name(stem.replace("train", name, 1) + ending) for ending in endings)
    return next((path for path in candidates if path.is_file()), None)


def language(path: Path, option: str, value: str | None) -> str:
    """The language of a file: the option's value, or else the end of the file's name, such as .nl or .nl.txt.

    Raises:
        StudyError: if that is not a language's code.
    """
    if value is not None:
        try:
            return language_of(value).tag
        except ValueError as error:
            raise StudyError(f"{option}: {error}") from None
    endings = [ending for ending in path.name.split(".")[1:] if ending.lower() not in _NO_ENDINGS]
    if tag := tables.language_tag(endings[-1]) if endings else None:
        return tag
    raise StudyError(f"{path}: its name does not end in a language, such as .nl; give it with {option}")


_NO_ENDINGS = tables.NO_LANGUAGES | {ending.removeprefix(".") for ending in COMPRESSED}
"""Endings of text files that are no language."""
OPTIONS = ("--source-language", "--target-language")


def read(source: Path, target: Path | None, values: tuple[str | None, str | None]) -> tuple[Text, tuple[str, str]]:
    """The user's text in two files, or in a table that is given alone, and the languages of source and target, for
    which the user may give values.

    Raises:
        PrelnError: if the files or their languages are not clear.
    """
    parallel_tables = [path for path in (source, target) if path and tables.is_table(path)]
    if target is None or target == source:
        if not parallel_tables:
            formats = ", ".join(tables.FORMATS)
            raise StudyError(f"{source}: give its translation too, or one file with both sides ({formats})")
        wanted = [
            language(source, option, value) if value else None for option, value in zip(OPTIONS, values, strict=True)
        ]
        columns = tables.columns(source, (wanted[0], wanted[1]))
        text, unknown = Text(source, source, columns), [code is None for code in columns.languages]
        if any(unknown):
            options = " and ".join(option for option, is_unknown in zip(OPTIONS, unknown, strict=True) if is_unknown)
            raise StudyError(f"{source}: does not say the language of its columns; give it with {options}")
        languages = columns.languages
    elif parallel_tables:
        raise StudyError(f"{parallel_tables[0]}: has both sides by its name; give it alone")
    else:
        text = Text(source, target)
        languages = language(source, OPTIONS[0], values[0]), language(target, OPTIONS[1], values[1])
    if languages[0] == languages[1]:
        raise StudyError(
            f"{source} and {target or source}: both are in {languages[0]}; give a text and its translation, or give "
            "their languages with --source-language and --target-language"
        )
    return text, (str(languages[0]), str(languages[1]))


def write(train: Text, languages: tuple[str, str], out: Path) -> tuple[TextStatistics, list[Path]]:
    """Write a study for a laptop: the paper's two placements, with and without a warm-up. Tables and
    compressed files, which the preparation does not read, are written as text to data/, below the study's name. The
    study is named after the file `out`. Returns what the text is like, and the text files written.

    Raises:
        PrelnError: if a side cannot be used, or a file is there already.
    """
    if out.exists():
        raise StudyError(f"{out}: is there already; name another file with --out")
    if not re.match(NAMES, out.stem):
        raise StudyError(f"--out {out}: the study is named after the file, whose name {FORMS[NAMES]}")
    texts = {"train": train}
    for part in PARTS:
        if files := beside(train, part):
            texts[part] = Text(*files, train.columns and tables.columns_like(files[0], train.columns))
    try:
        statistics = look(train.pairs(), 3 - len(texts))
    except CorpusError as error:
        told = str(error)
        raise StudyError(told if told.startswith(str(train.source)) else f"{train.source}: {told}") from None
    parts, written = {}, list[Path]()
    for part, text in texts.items():
        parts[part] = text.source, text.target
        if not text.is_read_as_it_is:
            source, target = (Path("data") / out.stem / f"{part}.{language}" for language in languages)
            parts[part] = source, target
            written += parts[part]
    study = _text(statistics, parts, languages, _name(train.source, languages), out.stem)
    validate(yaml.safe_load(study), str(out))
    if existing := [path for path in written if path.exists()]:
        raise StudyError(f"{existing[0]}: is there already; remove it, or name another study with --out")
    try:
        for part, text in texts.items():
            if not text.is_read_as_it_is:
                for side, path in enumerate(parts[part]):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_lines(path, (pair[side] for pair in text.pairs()))
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, study)
    except BaseException:
        # The same command, once the text is mended, would refuse to replace them.
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return statistics, written


def _name(source: Path, languages: tuple[str, str]) -> str:
    """A name for the text: that of its file, or else its languages."""
    first = re.sub("[^a-z0-9]+", "-", source.name.split(".")[0].lower())[:64].strip("-")
    names = {"train", *(name for part in PARTS.values() for name in part)}
    return first if first and first not in names else "-".join(languages).lower()


def _text(
    statistics: TextStatistics, parts: dict[str, tuple[Path, Path]], languages: tuple[str, str], corpus: str, name: str
) -> str:
    epoch_updates = statistics.epoch_updates
    epochs = min(MOST_EPOCHS, max(1, round(UPDATES / epoch_updates)))
    warmup = max(1, 10 * round(WARMUP_SHARE * epochs * epoch_updates / 10))
    lines = [
        f"    {part}: {_flow({'source': str(source), 'target': str(target)})}"
        for part, (source, target) in parts.items()
    ]
    if len(parts) < 3:
        missing = " and ".join(part for part in PARTS if part not in parts)
        lines.append(f"    held_out: {statistics.held_out}  # pairs taken from train for {missing}")
    return f"""\
# {statistics.pairs:,} pairs of sentences. `preln plan` estimates the study's cost; config/README.md in preln's
# repository lists every key.
study: {_flow(name)}  # its results are in results/{name}/ (in a module: below its prefix)
corpora:
  {_flow(corpus)}:
    source: files
    source_language: {_flow(languages[0])}
    target_language: {_flow(languages[1])}
{chr(10).join(lines)}
    # The text {"looks tokenised" if statistics.tokenised else "is running text, for Moses if it knows the language"}.
    tokenise: {_flow(not statistics.tokenised)}
    lowercase: true  # false keeps capitals
    vocabulary: {statistics.vocabulary}  # BPE pieces, at most
translation:
  # A small model for minutes on a laptop. config/iwslt14-50k.yaml there has the paper's size, for a GPU.
  settings:
    corpus: {_flow(corpus)}
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
    - figures: [2, 4]
      placement: [post, pre]
      warmup: [0, {warmup}]
      seed: [1, 2, 3]  # three seeds are the least from which a verdict holds; 1 is a third of the time
"""


def _flow(value: Any) -> str:
    """A value in YAML, on one line."""
    return yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("...\n").strip()
