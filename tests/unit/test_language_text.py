"""The tokens of a text: what they are, that they are made as a stream, and the unigram baseline."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from preln.corpora import CorpusError
from preln.language import text as language_text
from preln.language.text import TokenText, prepare_tokens
from preln.records.files import replaced_folder
from preln.records.prepared_stage import TextDamaged
from tests.conftest import language_settings


def prepared(folder: Path, train: str, valid: str = "a b\n", vocabulary: str = "<unk>\t0\na\t-1\nb\t-2\n") -> Path:
    """A prepared text whose pieces are its words."""
    for stage in ("text", "bpe"):
        with replaced_folder(folder / stage) as partial:
            (partial / "train.txt").write_text(train, encoding="utf-8")
            (partial / "valid.txt").write_text(valid, encoding="utf-8")
            (partial / "bpe.vocab").write_text(vocabulary, encoding="utf-8")
    return folder


def test_pieces_are_their_numbers_and_lines_end(tmp_path: Path) -> None:
    prepare_tokens(prepared(tmp_path, "a b\nb c\n\na\n"), "bpe", tmp_path / "tokens")
    text = TokenText.read(tmp_path / "tokens")
    assert text.vocabulary == 4
    assert text.train.tolist() == [1, 2, 3, 2, 0, 3, 3, 1, 3]
    assert text.valid.tolist() == [1, 2, 3]
    assert text.counts.tolist() == [1, 2, 2, 4]


def test_bytes_are_the_text(tmp_path: Path) -> None:
    prepare_tokens(prepared(tmp_path, "naïve\n\nb\n"), "bytes", tmp_path / "tokens")
    text = TokenText.read(tmp_path / "tokens")
    assert text.vocabulary == 256
    assert bytes(text.train.tolist()).decode() == "naïve\n\nb\n"


def test_targets_are_the_next_tokens(tmp_path: Path) -> None:
    prepare_tokens(prepared(tmp_path, "abcdefgh"), "bytes", tmp_path / "tokens")
    tokens, targets = TokenText.read(tmp_path / "tokens").batch([0, 3], 4)
    assert [bytes(row).decode() for row in tokens.tolist()] == ["abcd", "defg"]
    assert [bytes(row).decode() for row in targets.tolist()] == ["bcde", "efgh"]


@pytest.mark.parametrize("tokens", ["bpe", "bytes"])
def test_a_longer_text_takes_no_more_memory(tokens: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_text, "BLOCK", 10_000)
    peaks = []
    for number, lines in enumerate((5_000, 50_000)):
        folder = prepared(tmp_path / str(number), "a b a b\n" * lines)
        tracemalloc.start()
        prepare_tokens(folder, "bpe" if tokens == "bpe" else "bytes", folder / "tokens")
        read = TokenText.read(folder / "tokens")
        read.batch([len(read.train) - 20], 16)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    prepare_tokens(prepared(tmp_path, "a b\n"), "bpe", tmp_path / "tokens")
    (tmp_path / "tokens" / "train.bin").write_bytes(b"\1\0\1\0")
    with pytest.raises(TextDamaged, match=r"train\.bin"):
        TokenText.read(tmp_path / "tokens")


def test_a_text_without_a_whole_sequence_is_refused(tmp_path: Path) -> None:
    prepare_tokens(prepared(tmp_path, "a b " * 20), "bpe", tmp_path / "tokens")
    with pytest.raises(CorpusError, match="sequence_length: 16 needs more than 3 tokens, all that valid has"):
        TokenText.read(tmp_path / "tokens").require(language_settings(sequence_length=16))


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
