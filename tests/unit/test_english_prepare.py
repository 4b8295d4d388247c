"""Documents become sentences, and go to train or valid whole."""

import json
import re
from pathlib import Path

import pytest

from preln.config import EmbeddedSource, EnglishText, TextSource
from preln.config.base import recorded
from preln.corpora import CorpusError
from preln.corpora.english.prepare import held_out, prepare, prepare_text, prepared
from preln.records.files import sha256
from tests.refused import refused

SOURCE = EmbeddedSource(source="embedded")


def numbered(count: int) -> list[tuple[TextSource, list[str]]]:
    """Documents of which each sentence names its document."""
    return [(SOURCE, [f"This is of document {number}. It is document {number} again."]) for number in range(count)]


def test_one_of_200_documents_is_held_out_and_at_least_one() -> None:
    assert [len(held_out(total, seed=1)) for total in (2, 299, 301, 5000)] == [1, 1, 2, 25]


def test_every_document_is_in_one_part_whole(tmp_path: Path) -> None:
    counts = prepare(numbered(450), 1, tmp_path, 1)
    texts = {part: (tmp_path / f"{part}.txt").read_text() for part in ("train", "valid")}
    parts = {part: [block.splitlines() for block in text.split("\n\n")] for part, text in texts.items()}
    assert {part: len(documents) for part, documents in parts.items()} == {"train": 448, "valid": 2}
    # Each document has one number, in both of its sentences.
    numbers = [re.findall(r"\d+", " ".join(document)) for documents in parts.values() for document in documents]
    assert sorted(numbers, key=lambda pair: int(pair[0])) == [[str(number)] * 2 for number in range(450)]
    assert counts["train"] == {"documents": 448, "sentences": 896, "words": 448 * 12}
    assert not (tmp_path / "documents.txt").exists()


@pytest.mark.slow
def test_processes_change_nothing(tmp_path: Path) -> None:
    for processes in (1, 2):
        (tmp_path / str(processes)).mkdir()
        prepare(numbered(60), 3, tmp_path / str(processes), processes)
    for name in ("train.txt", "valid.txt"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_sentences_are_split_normalised_tokenised_and_lower_cased_or_dropped() -> None:
    sentences, dropped = prepared(SOURCE, ["“Mr. Smith isn’t here,” she said. With <unk> in it. He paid $3.50!"])
    assert sentences == ["&quot; mr. smith isn &apos;t here , &quot; she said .", "he paid $ 3.50 !"]
    assert dropped == 1


def test_a_document_without_text_is_counted_and_a_single_one_with_text_refused(tmp_path: Path) -> None:
    counts = prepare([(SOURCE, lines) for lines in (["One."], [], ["Two."])], 1, tmp_path, 1)
    assert counts["dropped"] == {"empty_documents": 1, "copies": 0, "sentences": 0}
    with refused(CorpusError, "1 documents with text"):
        prepare([(SOURCE, ["One."]), (SOURCE, [])], 1, tmp_path, 1)


def test_train_has_no_copy_of_a_document_of_valid(tmp_path: Path) -> None:
    counts = prepare([*numbered(10), *numbered(10)], 1, tmp_path, 1)
    valid = (tmp_path / "valid.txt").read_text()
    assert valid not in (tmp_path / "train.txt").read_text()
    assert (counts["train"]["documents"], counts["dropped"]["copies"]) == (18, 1)


def test_documents_that_are_all_alike_are_refused(tmp_path: Path) -> None:
    with refused(CorpusError, "every document of train is also one of valid"):
        prepare([(SOURCE, ["One."])] * 3, 1, tmp_path, 1)


@pytest.mark.slow
def test_a_text_is_its_sources_one_after_the_other(tmp_path: Path) -> None:
    own, out = tmp_path / "own.txt", tmp_path / "text"
    own.write_text("Of my own.\n\nAnother of mine.\n")
    sources = [{"source": "embedded", "documents": 200}, {"source": "files", "path": own, "documents": "blank-line"}]
    prepare_text(EnglishText.model_validate({"sources": sources}), tmp_path, out, 1)
    record = json.loads((out / "text.json").read_text())
    assert [record["parts"][part]["documents"] for part in ("train", "valid")] == [201, 1]
    everything = (out / "train.txt").read_text() + (out / "valid.txt").read_text()
    assert "another of mine ." in everything.splitlines()
    assert record["sha256"]["valid.txt"] == sha256(out / "valid.txt")


def test_a_text_that_has_changed_since_the_study_was_read_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Of my own.\n\nAnother of mine.\n")
    source = {"source": "files", "path": own, "documents": "blank-line"}
    text = recorded(EnglishText.model_validate({"sources": [source]}))
    own.write_text("Edited since.\n\nAnother of mine.\n")
    with refused(CorpusError, f"{own}: has changed since the study was read"):
        prepare_text(text, tmp_path, tmp_path / "text", 1)
