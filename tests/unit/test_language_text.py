"""The tokens of a text: what they are, that they are made as a stream, and the unigram baseline."""

import math
import tracemalloc
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from preln.corpora import CorpusError
from preln.language import text as language_text
from preln.language.text import TokenText, prepare_tokens
from preln.records.files import Damaged, replaced_folder
from tests.conftest import language_settings
from tests.refused import refused

Tokens = Literal["bpe", "bytes"]


def prepared(folder: Path, train: str) -> Path:
    """A prepared text whose pieces are its words."""
    files = {"train.txt": train, "valid.txt": "a b\n", "bpe.vocab": "<unk>\t0\na\t-1\nb\t-2\n"}
    for stage in ("text", "bpe"):
        with replaced_folder(folder / stage) as partial:
            for name, content in files.items():
                (partial / name).write_text(content, encoding="utf-8")
    return folder


def tokens_of(folder: Path, train: str, kind: Tokens) -> TokenText:
    prepare_tokens(prepared(folder, train), kind, folder / "tokens")
    return TokenText.read(folder / "tokens")


def test_pieces_are_their_numbers_and_lines_end(tmp_path: Path) -> None:
    text = tokens_of(tmp_path, "a b\nb c\n\na\n", "bpe")
    assert text.vocabulary == 4
    assert text.train.tolist() == [1, 2, 3, 2, 0, 3, 3, 1, 3]
    assert text.valid.tolist() == [1, 2, 3]
    assert text.counts.tolist() == [1, 2, 2, 4]


def test_bytes_are_the_text(tmp_path: Path) -> None:
    text = tokens_of(tmp_path, "naïve\n\nb\n", "bytes")
    assert text.vocabulary == 256
    assert bytes(text.train.tolist()).decode() == "naïve\n\nb\n"


def test_targets_are_the_next_tokens(tmp_path: Path) -> None:
    sides = tokens_of(tmp_path, "abcdefgh", "bytes").batch([0, 3], 4)
    assert [[bytes(row).decode() for row in side.tolist()] for side in sides] == [["abcd", "defg"], ["bcde", "efgh"]]


@pytest.mark.parametrize("kind", ["bpe", "bytes"])
def test_a_longer_text_takes_no_more_memory(kind: Tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_text, "BLOCK", 10_000)
    peaks = []
    for lines in (5_000, 50_000):
        folder = prepared(tmp_path / str(lines), "a b a b\n" * lines)
        tracemalloc.start()
        prepare_tokens(folder, kind, folder / "tokens")
        read = TokenText.read(folder / "tokens")
        read.batch([len(read.train) - 20], 16)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    tokens_of(tmp_path, "a b\n", "bpe")
    (tmp_path / "tokens" / "train.bin").write_bytes(b"\1\0\1\0")
    with refused(Damaged, "train.bin"):
        TokenText.read(tmp_path / "tokens")


def test_a_text_without_a_whole_sequence_is_refused(tmp_path: Path) -> None:
    with refused(CorpusError, "sequence_length: 16 ", "more than 3 tokens", "valid"):
        tokens_of(tmp_path, "a b " * 20, "bpe").require(language_settings(sequence_length=16))


def text_of(train: list[int], valid: list[int], vocabulary: int) -> TokenText:
    arrays = [np.array(tokens, np.uint16) for tokens in (train, valid)]
    return TokenText(arrays[0], arrays[1], vocabulary, np.bincount(arrays[0], minlength=vocabulary))


@pytest.mark.parametrize(("valid_tokens", "starts"), [(1000, [0, 4, 8]), (9, [0, 4]), (2, [0])])
def test_a_validation_reads_whole_sequences_from_the_beginning(valid_tokens: int, starts: list[int]) -> None:
    text = text_of([0] * 20, [0] * 15, 2)
    assert text.valid_starts(language_settings(sequence_length=4, valid_tokens=valid_tokens)) == starts


def test_the_unigram_baseline_is_that_of_what_a_validation_predicts() -> None:
    text = text_of([0, 0, 0, 1], [1, 0, 0, 0, 1, 1, 1, 1], 2)
    settings = language_settings(sequence_length=4, valid_tokens=5)
    expected = (3 * math.log2(4 / 3) + math.log2(4)) / 4
    assert text.unigram_baseline(settings) == pytest.approx(expected)
