"""Joint byte-pair encoding of both languages with SentencePiece.

SentencePiece does not normalise the text, and its pieces may cross anything but a space, as with subword-nmt: an escape
such as `&apos;` can be one piece.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import sentencepiece

from preln.corpora import CorpusError
from preln.corpora.text import lines_of

_LONGEST_LINE_BYTES = 1 << 20
"""SentencePiece silently skips longer lines in training; no line that passed `text.screen` is longer."""

_BATCH = 10_000

MOST_SENTENCES = 5_000_000
"""Largest number of training sentences; more change the pieces little, and would fill the memory."""

COVERAGE = 0.99999
"""Share of a long text's characters that are in the vocabulary."""


def train(texts: Sequence[Path], vocabulary: int, coverage: float = 1.0, most_sentences: int = MOST_SENTENCES) -> bytes:
    """The serialised SentencePiece model of all lines of the files. The same lines give the same bytes.

    Args:
        texts: files, which are read twice; blank lines are skipped.
        vocabulary: the largest number of pieces, including `<unk>`.
        coverage: the share of the text's characters that are in the vocabulary; below 1, the rarest are not.
        most_sentences: the largest number of sentences in memory; from a longer text, every second is used, or every
            third, and so on.

    Raises:
        CorpusError: if the vocabulary cannot hold the characters.
    """
    sentences, common = _counted(texts, coverage)
    characters = common | {" "}
    if vocabulary <= len(characters):
        raise CorpusError(
            f"vocabulary: {vocabulary} pieces cannot hold the text's {len(characters)} characters and <unk>; "
            f"give at least {len(characters) + 1}, better ten times as many"
        )
    step = max(1, math.ceil(sentences / most_sentences))

    def trained(required: set[str]) -> bytes:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=islice(_sentences(texts), 0, None, step),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocabulary,
            hard_vocab_limit=False,
            character_coverage=coverage,
            required_chars="".join(sorted(required)),
            normalization_rule_name="identity",
            split_by_unicode_script=False,
            split_by_number=False,
            max_sentence_length=_LONGEST_LINE_BYTES,
            # fairseq's dictionary has its own <s>, <pad> and </s>.
            bos_id=-1,
            eos_id=-1,
            # The number is stored in the model: another one would give another file for the same pieces.
            num_threads=1,
            minloglevel=2,
        )
        return model.getvalue()

    if coverage < 1.0:
        return trained(set())
    every = common - {" "}
    # A sample may lack characters of the text.
    model = trained(every if step > 1 else set())
    # SentencePiece rounds the share to single precision: of more than 2^24 characters, it may leave out the rarest.
    return model if every <= {piece for piece, _ in pieces(model)} else trained(every)


def _counted(texts: Sequence[Path], coverage: float) -> tuple[int, set[str]]:
    """The number of sentences, and the most frequent characters that cover a share of the text."""
    sentences, common = 0, set[str]()
    characters = Counter[str]()
    for sentence in _sentences(texts):
        characters.update(sentence)
        sentences += 1
    covered, enough = 0, coverage * characters.total()
    for character, count in characters.most_common():
        if covered > enough:
            break
        common.add(character)
        covered += count
    return sentences, common


def _sentences(texts: Sequence[Path]) -> Iterator[str]:
    return (line for text in texts for line in lines_of(text) if line)


def pieces(model: bytes) -> list[tuple[str, float]]:
    """A model's vocabulary: each piece with its score, which is its negated merge order."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]


def encode(model: bytes, sentences: Iterable[str], threads: int) -> Iterator[list[str]]:
    """The pieces of each sentence, as a stream; unknown characters are kept."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    iterator = iter(sentences)
    while batch := list(islice(iterator, _BATCH)):
        yield from processor.encode(batch, out_type=str, num_threads=threads)


def encode_file(model: bytes, text: Path, pieces_file: Path, threads: int) -> int:
    """Write the pieces of each line of `text` to `pieces_file`, and count them; blank lines stay."""
    count = 0
    with pieces_file.open("w", encoding="utf-8", newline="\n") as output:
        for sentence_pieces in encode(model, lines_of(text, "encode"), threads):
            output.write(" ".join(sentence_pieces) + "\n")
            count += len(sentence_pieces)
    return count
