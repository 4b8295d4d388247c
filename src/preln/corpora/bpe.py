"""Joint byte-pair encoding of both languages with SentencePiece.

SentencePiece is told to leave the text as it is (no normalisation) and to let pieces cross anything but a
space, as subword-nmt does: an escape such as `&apos;` can be one piece.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import sentencepiece
from tqdm import tqdm

from preln.corpora import CorpusError

_LONGEST_LINE_BYTES = 1 << 20
"""SentencePiece silently leaves longer lines out of training; no line that passed `text.screen` is longer."""

_BATCH = 10_000

MOST_SENTENCES = 5_000_000
"""Sentences that a model of a long text is trained on; more change its pieces little, and would fill the memory."""

COVERAGE = 0.99999
"""Share of a long text's characters that are pieces of its model."""


def train(sentences: Sequence[str], vocabulary: int) -> bytes:
    """The serialised SentencePiece model of at most `vocabulary` pieces, `<unk>` and every character of the
    sentences among them. The same sentences give the same bytes.

    Raises:
        CorpusError: if the vocabulary cannot hold the characters.
    """
    return _train(sentences, set(chain.from_iterable(sentences)), vocabulary, coverage=1.0)


def train_on_file(text: Path, vocabulary: int, most_sentences: int = MOST_SENTENCES) -> bytes:
    """The same of a file's lines, of which no more than `most_sentences` are held: of a longer file, every second
    line, or every third, and so on, is taken. The rarest characters, one of 100,000 in the text, may be unknown to it.

    Raises:
        CorpusError: if the vocabulary cannot hold the characters.
    """
    characters: Counter[str] = Counter()
    sentences = 0
    for line in _lines(text):
        characters.update(line)
        sentences += 1
    common, covered = set(), 0
    for character, count in characters.most_common():
        if covered > COVERAGE * characters.total():
            break
        common.add(character)
        covered += count
    sample = islice(_lines(text), 0, None, max(1, math.ceil(sentences / most_sentences)))
    return _train(sample, common, vocabulary, COVERAGE)


def _lines(text: Path) -> Iterator[str]:
    """The lines of a file that are not blank."""
    with text.open(encoding="utf-8", newline="\n") as file:
        yield from (line.rstrip("\n") for line in file if line != "\n")


def _train(sentences: Iterable[str], characters: set[str], vocabulary: int, coverage: float) -> bytes:
    """A model of the sentences, in which the `characters`, the given share of all, are pieces."""
    characters = characters | {" "}
    if vocabulary <= len(characters):
        raise CorpusError(
            f"vocabulary: {vocabulary} pieces cannot hold the text's {len(characters)} characters and <unk>; "
            f"give at least {len(characters) + 1}, better ten times as many"
        )
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=model,
        model_type="bpe",
        vocab_size=vocabulary,
        hard_vocab_limit=False,
        character_coverage=coverage,
        normalization_rule_name="identity",
        split_by_unicode_script=False,
        split_by_number=False,
        max_sentence_length=_LONGEST_LINE_BYTES,
        # fairseq's dictionary has its own <s>, <pad> and </s>.
        bos_id=-1,
        eos_id=-1,
        # Stored in the model: another number would give another file for the same pieces.
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def pieces(model: bytes) -> list[tuple[str, float]]:
    """The vocabulary of a model: each piece with its score, the order of its merge negated."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]


def encode(model: bytes, sentences: Sequence[str], threads: int, label: str) -> Iterator[list[str]]:
    """The pieces of each sentence; characters that the model does not know stay as they are."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    with tqdm(total=len(sentences), desc=label, unit=" lines", delay=2) as bar:
        for start in range(0, len(sentences), _BATCH):
            batch = list(sentences[start : start + _BATCH])
            yield from processor.encode(batch, out_type=str, num_threads=threads)
            bar.update(len(batch))


def encode_file(model: bytes, text: Path, pieces_file: Path, threads: int) -> int:
    """Write the pieces of each line of `text` to `pieces_file`; blank lines stay. The text streams.

    Returns:
        The number of pieces.
    """
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    count = 0
    with (
        text.open(encoding="utf-8", newline="\n") as lines,
        pieces_file.open("w", encoding="utf-8", newline="\n") as output,
        tqdm(desc=f"encode {text.name}", unit=" lines", delay=2, mininterval=5) as bar,
    ):
        while batch := [line.rstrip("\n") for line in islice(lines, _BATCH)]:
            for found in processor.encode(batch, out_type=str, num_threads=threads):
                output.write(" ".join(found) + "\n")
                count += len(found)
            bar.update(len(batch))
    return count
