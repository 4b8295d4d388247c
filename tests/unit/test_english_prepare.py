"""Documents become sentences, and go to train or valid whole."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.config import EmbeddedSource, EnglishText, TextSource
from preln.corpora import CorpusError
from preln.corpora.english.prepare import TRAIN_TO_VALID, held_out, prepare, prepare_text, prepared

SOURCE = EmbeddedSource(source="embedded")


def numbered(count: int) -> list[tuple[TextSource, list[str]]]:
    """Documents of which each sentence names its document."""
    return [(SOURCE, [f"This is of document {number}. It is document {number} again."]) for number in range(count)]


def documents_of(path: Path) -> list[list[str]]:
    return [block.splitlines() for block in path.read_text().split("\n\n")]


@given(st.integers(2, 5000), st.integers(0, 100))
def test_one_of_200_documents_is_held_out_and_at_least_one(total: int, seed: int) -> None:
    valid = held_out(total, seed)
    assert len(valid) == max(1, round(total / (TRAIN_TO_VALID + 1)))
    assert valid <= set(range(total))
    assert valid == held_out(total, seed)


def test_every_document_is_in_one_part_whole(tmp_path: Path) -> None:
    counts = prepare(numbered(450), 1, tmp_path, 1)
    parts = {part: documents_of(tmp_path / f"{part}.txt") for part in ("train", "valid")}
    assert {part: len(found) for part, found in parts.items()} == {"train": 448, "valid": 2}
    names = {
        part: [{word for line in d for word in line.split() if word.isdigit()} for d in found]
        for part, found in parts.items()
    }
    assert all(len(name) == 1 for found in names.values() for name in found)
    train, valid = ({next(iter(name)) for name in names[part]} for part in ("train", "valid"))
    assert not train & valid
    assert len(train | valid) == 450
    assert counts["train"] == {"documents": 448, "sentences": 896, "words": 448 * 12}
    assert not (tmp_path / "documents.txt").exists()


@pytest.mark.slow
def test_processes_change_nothing(tmp_path: Path) -> None:
    for processes in (1, 2):
        (tmp_path / str(processes)).mkdir()
        prepare(numbered(60), 3, tmp_path / str(processes), processes)
    for name in ("train.txt", "valid.txt"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_sentences_are_split_normalised_tokenised_and_lower_cased() -> None:
    found = prepared(SOURCE, ["“Mr. Smith isn’t here,” she said. He paid $3.50!"])
    assert found.sentences == ["&quot; mr. smith isn &apos;t here , &quot; she said .", "he paid $ 3.50 !"]


def test_what_no_later_stage_could_use_is_counted() -> None:
    found = prepared(SOURCE, ["Good. With <unk> in it. Good again."])
    assert found.sentences == ["good .", "good again ."]
    assert found.dropped == 1


def test_a_document_without_text_is_counted(tmp_path: Path) -> None:
    counts = prepare([(SOURCE, lines) for lines in (["One."], [], ["Two."])], 1, tmp_path, 1)
    assert counts["dropped"] == {"empty_documents": 1, "sentences": 0}


def test_a_single_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="1 documents with text"):
        prepare([(SOURCE, ["One."])], 1, tmp_path, 1)


@pytest.mark.slow
def test_a_text_is_its_sources_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Of my own.\n\nAnother of mine.\n")
    text = EnglishText.model_validate(
        {
            "sources": [
                {"source": "embedded", "documents": 200},
                {"source": "files", "path": tmp_path / "own.txt", "documents": "blank-line"},
            ]
        }
    )
    prepare_text(text, tmp_path, tmp_path / "text", 1)
    record = json.loads((tmp_path / "text" / "text.json").read_text())
    parts = record["parts"]
    documents = parts["train"]["documents"] + parts["valid"]["documents"]
    assert documents == 202
    assert parts["valid"]["documents"] == 1
    everything = (tmp_path / "text" / "train.txt").read_text() + (tmp_path / "text" / "valid.txt").read_text()
    assert "another of mine ." in everything.splitlines()
    assert record["sha256"]["valid.txt"] == hashlib.sha256((tmp_path / "text" / "valid.txt").read_bytes()).hexdigest()
