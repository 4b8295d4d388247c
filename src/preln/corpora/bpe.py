"""Joint byte-pair encoding of both languages with SentencePiece.

SentencePiece is told to leave the text as it is (no normalisation) and to let pieces cross anything but a
space, as subword-nmt does: an escape such as `&apos;` can be one piece.
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
"""SentencePiece silently leaves longer lines out of training; no line that passed `text.screen` is longer."""

_BATCH = 10_000

MOST_SENTENCES = 5_000_000
"""Sentences that a model of a long text is trained on; more change its pieces little, and would fill the memory."""

COVERAGE = 0.99999
"""Share of a long text's characters that are pieces of its model."""


def train(texts: Sequence[Path], vocabulary: int, coverage: float = 1.0, most_sentences: int = MOST_SENTENCES) -> bytes:
    """The serialised SentencePiece model of all lines of the files. The same lines give the same bytes.

    Args:
        texts: files, which are read one after the other, more than once; blank lines are no sentences.
        vocabulary: the most pieces; `<unk>` is one of them.
        coverage: the share of the text's characters that are pieces: each of them, or all but the rarest ones.
        most_sentences: how many of them are in memory; of a longer text, every second one is taken, or every third, and
            so on.

    Raises:
        CorpusError: if the vocabulary cannot hold the characters.
    """
    sentences, characters = _counted(texts, coverage)
    each = max(1, math.ceil(sentences / most_sentences))
    # What is left out of a sample may hold a character that nothing else does.
    required = characters - {" "} if each > 1 and coverage == 1.0 else set[str]()
    return _train(islice(_sentences(texts), 0, None, each), characters, vocabulary, coverage, required)


def _counted(texts: Sequence[Path], coverage: float) -> tuple[int, set[str]]:
    """The number of sentences, and the most frequent characters, which make up a share of the text."""
    sentences, common = 0, set[str]()
    if coverage == 1.0:
        for sentence in _sentences(texts):
            common.update(sentence)
            sentences += 1
        return sentences, common
    characters: Counter[str] = Counter()
    for sentence in _sentences(texts):
        characters.update(sentence)
        sentences += 1
    covered = 0
    for character, count in characters.most_common():
        if covered > coverage * characters.total():
            break
        common.add(character)
        covered += count
    return sentences, common


def _sentences(texts: Sequence[Path]) -> Iterator[str]:
    return (line for text in texts for line in lines_of(text) if line)


def _train(
    sentences: Iterable[str], characters: set[str], vocabulary: int, coverage: float, required: set[str]
) -> bytes:
    """A model of the sentences, in which the `characters`, the given share of all, are pieces, and the `required` ones
    even if no sentence has them."""
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
        required_chars="".join(sorted(required)),
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


def encode(model: bytes, sentences: Iterable[str], threads: int) -> Iterator[list[str]]:
    """The pieces of each sentence; characters that the model does not know stay as they are. The sentences stream."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    left = iter(sentences)
    while batch := list(islice(left, _BATCH)):
        yield from processor.encode(batch, out_type=str, num_threads=threads)


def encode_file(model: bytes, text: Path, pieces_file: Path, threads: int) -> int:
    """Write the pieces of each line of `text` to `pieces_file`; blank lines stay.

    Returns:
        The number of pieces.
    """
    count = 0
    with pieces_file.open("w", encoding="utf-8", newline="\n") as output:
        for found in encode(model, lines_of(text, "encode"), threads):
            output.write(" ".join(found) + "\n")
            count += len(found)
    return count
