"""The stages of the command line: text, BPE pieces and their records, for each source."""

import hashlib
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from preln.config import EmbeddedCorpus, FilesCorpus, Iwslt14Corpus, TextPaths
from preln.config.base import recorded
from preln.corpora import CorpusError, data, prepare
from preln.corpora.text import lines_of
from preln.records.files import MANIFEST, Damaged, checksums_in, write_sealed
from tests.refused import names, refused

REAL = data.pairs()[:1000]
SENTENCES = [(f"Der Hund sieht {number} Katzen.", f"The dog sees {number} cats.") for number in range(1000)]
PHRASES = [(f"Zin {n} {'hier' if n % 2 else 'daar'}.", f"Phrase {n} {'ici' if n % 2 else 'là'}.") for n in range(100)]


@pytest.fixture(autouse=True)
def sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short embedded text."""
    monkeypatch.setattr(data, "pairs", lambda: SENTENCES)


def embedded(**settings: Any) -> EmbeddedCorpus:
    return EmbeddedCorpus(source="embedded", **{"pairs": 1000, "held_out": 50, **settings})


def own_text(folder: Path, parts: dict[str, list[tuple[str, str]]], **settings: Any) -> FilesCorpus:
    """A corpus of the user's own files, which are named after their parts."""
    paths = {}
    for name, pairs in parts.items():
        paths[name] = TextPaths(source=folder / f"{name}.de", target=folder / f"{name}.en")
        for side, path in enumerate(paths[name].files):
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    languages = {"source_language": "de", "target_language": "en", "held_out": 20}
    return FilesCorpus(source="files", **{**languages, **paths, **settings})


def text(corpus: Any, out: Path) -> dict[str, Any]:
    """The record of a text that is prepared."""
    prepare.prepare_text(corpus, out / "downloads", out, processes=1)
    return read(out / "corpus.json")


def pieces(text: Path, out: Path) -> dict[str, Any]:
    """The record of a text's pieces."""
    prepare.prepare_bpe(text, 200, out, threads=2)
    return read(out / "bpe.json")


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_embedded_corpus_is_split_and_tokenised_and_its_record_says_how(tmp_path: Path) -> None:
    corpus = embedded()
    record = text(corpus, tmp_path)
    names = {f"{part}.{language}" for part in ("train", "valid", "test") for language in ("de", "en")}
    assert {path.name for path in tmp_path.iterdir()} == {*names, "corpus.json", "manifest.json"}
    assert {name: part["pairs"] for name, part in record["parts"].items()} == {"train": 900, "valid": 50, "test": 50}
    pairs = [
        pair
        for part in ("train", "valid", "test")
        for pair in zip(lines_of(tmp_path / f"{part}.de"), lines_of(tmp_path / f"{part}.en"), strict=True)
    ]
    assert sorted(pairs) == sorted(
        (f"der hund sieht {number} katzen .", f"the dog sees {number} cats .") for number in range(1000)
    )
    assert record["source"] == "embedded"
    assert record["languages"] == {"source": "de", "target": "en"}
    assert record["settings"] == corpus.model_dump(mode="json")
    assert record["title"] and record["origin"] and record["licence"]
    digest = hashlib.sha256((tmp_path / "valid.en").read_bytes()).hexdigest()
    assert record["parts"]["valid"]["files"]["valid.en"] == {"sha256": digest}
    assert text(embedded(seed=2), tmp_path / "other")["parts"]["valid"] != record["parts"]["valid"]


def test_accents_are_one_text_composed_or_not(tmp_path: Path) -> None:
    decomposed = [unicodedata.normalize("NFD", f"Één café {number}.") for number in range(100)]
    train, valid = [(line, line) for line in decomposed], [("Één café.", "Un café.")] * 8
    text(own_text(tmp_path, {"train": train, "valid": valid}), tmp_path / "out")
    record = pieces(tmp_path / "out", tmp_path / "bpe")
    assert record["parts"]["valid"]["unknown_characters"] == 8  # the U of Un
    assert (tmp_path / "out" / "valid.de").read_text(encoding="utf-8") == "één café .\n" * 8


def test_words_that_the_tokeniser_tears_are_told(tmp_path: Path) -> None:
    pairs = [("It is 漢字 です.", target) for _, target in PHRASES]
    corpus = own_text(tmp_path, {"train": pairs}, source_language="en", target_language="fr")
    warning = text(corpus, tmp_path / "out")["warnings"][-1]
    assert warning.startswith(f"{corpus.train.source}: en: Moses takes words apart, or joins them")


def test_users_files_that_are_tokenised_keep_their_words_and_case(tmp_path: Path) -> None:
    text(own_text(tmp_path, {"train": PHRASES}, tokenise=False, lowercase=False), tmp_path / "out")
    assert all(re.fullmatch(r"Phrase .*\w\.", line) for line in lines_of(tmp_path / "out" / "test.en"))


def test_a_file_that_has_changed_since_the_study_was_read_is_refused(tmp_path: Path) -> None:
    corpus = recorded(own_text(tmp_path, {"train": PHRASES, "valid": REAL[:20]}))
    with (tmp_path / "valid.en").open("a") as file:
        file.write("One more.\n")
    with (tmp_path / "valid.de").open("a") as file:
        file.write("Noch einer.\n")
    with refused(CorpusError, f"{tmp_path / 'valid.de'}: has changed since the study was read"):
        text(corpus, tmp_path / "out")


def test_a_given_part_is_used_and_taken_from_train(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train = [(f"Zin {n} hier.", f"Phrase {n} ici.") for n in range(100)] + [("Zin 7 hier.", "Phrase 7 ici."), ("L", "")]
    valid = [("ZIN 7 hier.", "Phrase  7 ici."), ("Nieuw.", "Nouveau.")]
    record = text(own_text(tmp_path, {"train": train, "valid": valid}, held_out=10), tmp_path / "out")
    assert list(lines_of(tmp_path / "out" / "valid.de")) == ["zin 7 hier .", "nieuw ."]
    assert record["parts"]["train"]["drops"]["held_out"] == 2
    assert record["parts"]["train"]["pairs"] == 99 - 10
    told = "train: 89 pairs; left out: 1 with an empty side, 2 that are in valid or test too"
    assert told in caplog.messages


def test_what_looks_like_a_mistake_is_told_recorded_and_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert "warnings" not in text(own_text(tmp_path, {"train": PHRASES}), tmp_path / "usual")
    caplog.clear()
    same = [(f"Dit is zin {number} {'hier' if number % 2 else 'daar'}.",) * 2 for number in range(100)]
    record = text(own_text(tmp_path, {"train": REAL, "valid": same, "test": same}), tmp_path / "out")
    of_valid, of_test, of_both = record["warnings"]
    for warning, name in ((of_valid, "valid"), (of_test, "test")):
        assert names(warning, f"{tmp_path / name}.de, {tmp_path / name}.en: ", "of the sides' words are the same")
    assert "valid and test have 100 distinct pairs in common" in of_both
    assert [message for message in caplog.messages if "left out" not in message] == record["warnings"]
    assert record["parts"]["valid"]["pairs"] == record["parts"]["test"]["pairs"] == 100


@pytest.mark.slow
def test_a_part_with_its_sides_swapped_is_told_by_its_files(tmp_path: Path) -> None:
    swapped = [(target, source) for source, target in REAL[:150]]
    record = text(own_text(tmp_path, {"train": REAL[300:], "valid": swapped, "test": REAL[150:300]}), tmp_path / "out")
    (warning,) = [warning for warning in record["warnings"] if "swapped" in warning]
    assert warning.startswith(f"{tmp_path / 'valid.de'}, {tmp_path / 'valid.en'}: ")


def test_held_out_pairs_that_are_nearly_in_train_are_told(tmp_path: Path) -> None:
    train = [pair for source, target in REAL[:200] for pair in ((source, target), (f"{source} 7!", f"{target} 7!"))]
    corpus = own_text(tmp_path, {"train": train})
    warnings = [warning for warning in text(corpus, tmp_path / "out")["warnings"] if "in train too" in warning]
    where = f"{corpus.train.source}, {corpus.train.target}"
    assert [warning.split(": ")[0] for warning in warnings] == [
        f"{where} ({part} is held out of it)" for part in ("valid", "test")
    ]


def test_a_pair_that_no_model_reads_is_not_held_out(tmp_path: Path) -> None:
    document = ("der Hund " * 400, "the dog " * 400)
    corpus = own_text(tmp_path, {"train": [*REAL[:60], *(document for _ in range(2)), (document[0] + "x", "y")]})
    record = text(corpus, tmp_path / "out")
    assert [record["parts"][part]["pairs"] for part in ("train", "valid", "test")] == [23, 20, 20]
    assert "2 pairs of train were no candidates for valid and test" in "".join(record["warnings"])
    pieces(tmp_path / "out", tmp_path / "bpe")


def test_parts_smaller_than_a_batch_are_refused(tmp_path: Path) -> None:
    text(own_text(tmp_path, {"train": REAL[:60], "valid": REAL[60:67]}), tmp_path / "given")
    with refused(CorpusError, "valid.de: valid has 7 pairs that a model reads", "at least 8; give more text"):
        pieces(tmp_path / "given", tmp_path / "bpe")
    text(own_text(tmp_path, {"train": REAL[:60]}, held_out=5), tmp_path / "held")
    with refused(CorpusError, "train.de (valid is held out of it): valid has 5 pairs", "at least 8; raise held_out"):
        pieces(tmp_path / "held", tmp_path / "bpe")


@pytest.mark.slow
def test_a_line_that_no_model_reads_is_named_in_the_users_file(tmp_path: Path) -> None:
    valid = [("", "empty"), *REAL[:5], ("Hund " * 1200, "Dog")]
    text(own_text(tmp_path, {"train": REAL, "valid": valid}), tmp_path / "out")
    with refused(CorpusError, f"{tmp_path / 'valid.de'}, {tmp_path / 'valid.en'}: line 7 has 2400 BPE pieces"):
        pieces(tmp_path / "out", tmp_path / "bpe")


@pytest.mark.slow
def test_many_unknown_characters_are_told_by_the_users_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    test = [(source, target.replace("e", "ё")) for source, target in REAL[:50]]
    text(own_text(tmp_path, {"train": REAL[50:], "test": test}), tmp_path / "out")
    (warning,) = pieces(tmp_path / "out", tmp_path / "bpe")["warnings"]
    unknown = sum(target.count("ё") for _, target in test)
    assert warning.startswith(f"{tmp_path / 'test.en'}: {unknown:,} of ")
    assert warning in caplog.messages


def test_iwslt14_files_are_compared_with_the_published(tmp_path: Path) -> None:
    for part in ("train", "valid", "test"):
        for language in ("de", "en"):
            (tmp_path / f"{part}.{language}").write_text("x y .\n")
    record = text(Iwslt14Corpus(source="iwslt14", folder=tmp_path), tmp_path / "out")
    assert record["parts"]["test"]["files"]["test.en"]["as_published"] is False


def test_one_bpe_model_encodes_every_part(tmp_path: Path) -> None:
    text(embedded(), tmp_path)
    out = tmp_path / "bpe"
    record = pieces(tmp_path, out)
    vocabulary = [line.split("\t")[0] for line in lines_of(out / "bpe.vocab")]
    assert len(vocabulary) == record["pieces"] <= 200
    for part in ("train", "valid", "test"):
        count = 0
        for language in ("de", "en"):
            encoded = list(lines_of(out / f"{part}.{language}"))
            assert set(" ".join(encoded).split()) <= set(vocabulary)
            decoded = ["".join(line.split()).replace("▁", " ").strip() for line in encoded]
            assert decoded == list(lines_of(tmp_path / f"{part}.{language}"))
            assert record["parts"][part]["pairs"] == len(decoded)
            count += len(" ".join(encoded).split())
        assert record["parts"][part]["pieces"] == count


def test_a_pair_of_train_that_no_model_reads_is_left_out_and_counted(tmp_path: Path) -> None:
    text(embedded(), tmp_path)
    for name, line in (("train.de", "hund " * 1001), ("train.en", "a dog .")):
        with open(tmp_path / name, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    write_sealed(tmp_path / MANIFEST, {"files": checksums_in(tmp_path)})
    assert pieces(tmp_path, tmp_path / "bpe")["parts"]["train"]["too_many_pieces"] == 1
    assert [len(list(lines_of(tmp_path / "bpe" / f"train.{language}"))) for language in ("de", "en")] == [900, 900]


def test_no_pieces_are_made_of_a_text_that_is_damaged(tmp_path: Path) -> None:
    text(embedded(), tmp_path / "text")
    with open(tmp_path / "text" / "train.de", "a") as file:
        file.write("Noch ein Satz.\n")
    with refused(Damaged, "train.de: damaged", f"remove {tmp_path} and run the workflow again"):
        pieces(tmp_path / "text", tmp_path / "bpe")
    assert not (tmp_path / "bpe").exists()
