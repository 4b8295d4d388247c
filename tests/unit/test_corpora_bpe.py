"""Byte-pair encoding: nothing but the cutting into pieces changes the text."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora import CorpusError, bpe
from preln.corpora.text import LONGEST_LINE

SENTENCES = [
    "das ist nicht ihr hund , oder ?",
    "das ist ihre katze .",
    "that isn &apos;t her dog , is it ?",
    "that &apos;s her cat .",
    "10 000 katzen und 10 hunde",
] * 20


def encode(model: bytes, *sentences: str) -> list[list[str]]:
    return list(bpe.encode(model, sentences, 1))


def train(folder: Path, sentences: Sequence[str], vocabulary: int) -> bytes:
    text = folder / "sentences.txt"
    text.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    return bpe.train([text], vocabulary)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return train(tmp_path_factory.mktemp("model"), SENTENCES, 80)


def test_the_vocabulary_holds_unk_every_character_and_no_more_than_asked(model: bytes) -> None:
    known = [piece for piece, _ in bpe.pieces(model)]
    assert len(known) == len(set(known)) == 80
    assert known[0] == "<unk>"
    assert set("".join(SENTENCES)) - {" "} <= set(known)


def test_of_several_files_the_lines_count_as_of_one_and_blank_ones_do_not(model: bytes, tmp_path: Path) -> None:
    halves = [tmp_path / "first", tmp_path / "second"]
    for half, sentences in zip(halves, (SENTENCES[:31], SENTENCES[31:]), strict=True):
        half.write_text("".join(f"{sentence}\n\n" for sentence in sentences), encoding="utf-8")
    assert bpe.train(halves, 80) == model


def test_a_vocabulary_that_cannot_hold_the_characters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"vocabulary: 4 pieces .* 4 characters .* at least 5"):
        train(tmp_path, ["a b c"], 4)
    assert train(tmp_path, ["a b c"], 5)


@pytest.mark.slow
def test_a_rare_character_of_a_long_text_is_in_the_vocabulary(tmp_path: Path) -> None:
    # More characters than single precision tells apart.
    lines = [" ".join(["haus", "maus"] * 100)] * 36_000
    known = {piece for piece, _ in bpe.pieces(train(tmp_path, [*lines, "жук haus", "щука haus"], 200))}
    assert {"ж", "щ"} <= known


def test_an_escape_can_be_one_piece(tmp_path: Path) -> None:
    assert encode(train(tmp_path, SENTENCES, 500), "isn &apos;t") == [["▁isn", "▁&apos;t"]]


def test_the_longest_line_takes_part_in_training(tmp_path: Path) -> None:
    line = "&quot; " * LONGEST_LINE + "\U0001f600" * LONGEST_LINE
    assert "\U0001f600" in {piece for piece, _ in bpe.pieces(train(tmp_path, [line], 100))}


# Words of the training text, and anything else that prepared lines can hold: single spaces, no control
# characters, none of the two characters that SentencePiece keeps for itself.
words = st.one_of(
    st.sampled_from(sorted({word for sentence in SENTENCES for word in sentence.split()})),
    st.sampled_from(["\u200b", "\ufeff", "a\u0308", "ﬁ", "Ⅳ"]),
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2581\u2585"), min_size=1),
)


@given(st.lists(words, min_size=1).map(lambda parts: " ".join(" ".join(parts).split())).filter(bool))
def test_pieces_give_the_sentence_back(model: bytes, sentence: str) -> None:
    (encoded,) = encode(model, sentence)
    assert "".join(encoded).replace("▁", " ").strip(" ") == sentence
    # A reader that splits at white space finds the same pieces.
    assert " ".join(encoded).split() == encoded


def test_a_file_is_encoded_line_by_line_and_its_blank_lines_stay(tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "pieces.txt"
    text.write_text("a small text .\n\nof two documents .\n" * 30)
    model = bpe.train([text], 40)
    count = bpe.encode_file(model, text, out, 1)
    lines = out.read_text().split("\n")
    assert [line.replace(" ", "").replace("\u2581", " ").strip() for line in lines] == text.read_text().split("\n")
    assert count == sum(len(line.split()) for line in lines)


def test_the_rarest_characters_may_be_unknown(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a small text .\n" * 3000 + "ß\n", encoding="utf-8")
    models = (bpe.train([tmp_path / "text"], 30, coverage) for coverage in (1.0, 0.9999))
    assert ["ß" in dict(bpe.pieces(model)) for model in models] == [True, False]


def test_of_a_long_file_every_second_sentence_is_taken_and_every_character_is_known(tmp_path: Path) -> None:
    lines = [f"{'abab' if number % 2 == 0 else 'xyxy'} dcba" for number in range(100)]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    known = {piece for piece, _ in bpe.pieces(bpe.train([tmp_path / "text"], 14, most_sentences=50))}
    assert any("ab" in piece for piece in known)
    assert not any("xy" in piece for piece in known)
    assert set("abcdxy") <= known
