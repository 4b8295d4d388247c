"""Joint byte-pair encoding of both languages with SentencePiece.

SentencePiece is told to leave the text as it is (no normalisation) and to let pieces cross anything but a
space, as subword-nmt does: an escape such as `&apos;` can be one piece.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import chain

import sentencepiece
from tqdm import tqdm

from preln.corpora import CorpusError

_LONGEST_LINE_BYTES = 1 << 20
"""SentencePiece silently leaves longer lines out of training; no line that passed `text.screen` is longer."""

_BATCH = 10_000


def train(sentences: Sequence[str], vocabulary: int) -> bytes:
    """The serialised SentencePiece model of at most `vocabulary` pieces, `<unk>` and every character of the
    sentences among them. The same sentences give the same bytes.

    Raises:
        CorpusError: if the vocabulary cannot hold the characters.
    """
    characters = set(chain.from_iterable(sentences)) | {" "}
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
        character_coverage=1.0,
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
