"""IWSLT14 from the release's archive and from prepared text, as the field prepares it."""

import os
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import get_args

import pytest

from preln.config import Iwslt14Corpus
from preln.corpora import CorpusError, subsets
from preln.corpora.parallel import iwslt14
from preln.corpora.published import checksum
from preln.corpora.registry import DOWNLOADS, SOURCES
from preln.corpora.text import Drops, Pair, Part, clean, lines_of
from tests.archives import tar
from tests.refused import refused

# The real data may not be redistributed: where it is at hand, these name the folders of the release's XML files and of
# tokenised text.
OFFICIAL = os.environ.get("PRELN_IWSLT14_OFFICIAL")
PREPARED = os.environ.get("PRELN_IWSLT14_PREPARED")

TALK = (
    "<url>http://example.org</url>\n<talkid>1</talkid>\n<keywords>a, b</keywords>\n"
    "<title>{language}: A Talk</title>\n<description>It's about it.</description>\n{sentences}\n"
)


def release() -> dict[str, str]:
    """The files of a small release: a talk of 46 sentences besides title and description, five test sets."""
    texts = {}
    for language in ("de", "en"):
        lines = "\n".join(f"{language} Number {number}." for number in range(46))
        texts[f"train.tags.de-en.{language}"] = TALK.format(language=language, sentences=lines)
        for name in iwslt14.TEST_SETS:
            texts[f"IWSLT14.{name}.de-en.{language}.xml"] = (
                '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<title>Not a segment</title>\n'
                f'<seg id="1"> {language} {name}’s &amp; </seg>\n</mteval>\n'
            )
    return texts


@pytest.mark.parametrize(
    ("source", "target", "drops"),
    [
        (2, 3, Drops()),
        (3, 2, Drops()),
        (3, 5, Drops(unequal_lengths=1)),
        (2, 1, Drops(unequal_lengths=1)),
        (175, 175, Drops()),
        (176, 175, Drops(too_many_words=1)),
        (1, 0, Drops(empty=1)),
    ],
)
def test_cleaning_by_length_and_ratio(source: int, target: int, drops: Drops) -> None:
    pair = (" ".join("x" * source), " ".join("x" * target))
    part = Part([pair], warnings=("a doubt",))
    assert clean(part, iwslt14.MOST_WORDS) == Part([] if drops != Drops() else [pair], drops, ("a doubt",))


def test_every_23rd_pair_is_valid() -> None:
    pairs = [(f"de {number}", f"en {number}") for number in range(1, 70)]
    train, valid = iwslt14.interleaved(pairs)
    assert valid == [pairs[22], pairs[45], pairs[68]]
    assert train == [pair for pair in pairs if pair not in valid]


def test_unusable_pairs_do_not_shift_the_split() -> None:
    texts = release()
    for language in ("de", "en"):
        name = f"train.tags.de-en.{language}"
        texts[name] = texts[name].replace(f"{language} Number 3.", f"{language} Number 3 \u2581.")
    parts = iwslt14.prepare_release(texts, processes=1)
    usual = iwslt14.prepare_release(release(), processes=1)
    assert parts["train"].drops == Drops(reserved_symbols=1)
    assert parts["valid"] == usual["valid"]


def test_the_release_becomes_three_parts() -> None:
    parts = iwslt14.prepare_release(release(), processes=1)
    assert [len(parts[name].pairs) for name in ("train", "valid", "test")] == [46, 2, 5]
    assert parts["train"].pairs[:3] == [
        ("de : a talk", "en : a talk"),
        ("it &apos; s about it .", "it &apos;s about it ."),
        ("de number 0 .", "en number 0 ."),
    ]
    tests = ["ted.dev2010", "tedx.dev2012", "ted.tst2010", "ted.tst2011", "ted.tst2012"]
    # The XML's entities stay as they are written, as in the field's test set.
    assert [target for _, target in parts["test"].pairs] == [f"en {name} &apos;s &amp; amp ;" for name in tests]


def test_the_archive_is_checked_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tar(tmp_path / "de-en.tgz", release())
    corpus = Iwslt14Corpus(source="iwslt14")
    with pytest.raises(CorpusError, match=f"{checksum(path, 'git-blob')}, it should be aa8c3f40"):
        iwslt14.prepare(corpus, tmp_path, processes=1)
    real = DOWNLOADS["de-en.tgz"]
    monkeypatch.setattr(iwslt14, "_ARCHIVE", replace(real, checksum=checksum(path, "git-blob")))
    expected = iwslt14.prepare_release(release(), processes=1)
    assert iwslt14.prepare(corpus, tmp_path, processes=1) == expected
    local = corpus.model_copy(update={"folder": tmp_path})
    assert iwslt14.prepare(local, tmp_path / "nowhere", processes=1) == expected
    assert list(tmp_path.iterdir()) == [path], "nothing is unpacked"


def prepared(folder: Path, *more: Pair) -> Path:
    """Prepared text of a pair in each part, and perhaps of more."""
    for part in ("train", "valid", "test"):
        for side, language in enumerate(("de", "en")):
            lines = [f"{language} {part} &apos;s", *(pair[side] for pair in more)]
            (folder / f"{part}.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def test_prepared_text_is_taken_as_it_is(tmp_path: Path) -> None:
    corpus = Iwslt14Corpus(source="iwslt14", folder=prepared(tmp_path))
    parts = iwslt14.prepare(corpus, tmp_path / "nowhere", processes=1)
    assert parts == {part: Part([(f"de {part} &apos;s", f"en {part} &apos;s")]) for part in ("train", "valid", "test")}


def test_prepared_train_and_valid_are_cleaned_and_test_is_not(tmp_path: Path) -> None:
    parts = iwslt14.read_prepared(prepared(tmp_path, ("a b c d e", "a")))
    assert parts["train"].drops == parts["valid"].drops == Drops(unequal_lengths=1)
    assert len(parts["test"].pairs) == 2


def subset(name: str, pairs: list[Pair], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of the pairs' hashes takes the place of those of the package."""
    (folder / f"{name}.txt").write_text("".join(f"{subsets.pair_hash(pair)}\n" for pair in pairs), encoding="ascii")
    monkeypatch.setattr("preln.corpora.subsets.resources.files", lambda package: folder)


def test_a_subset_is_chosen_by_its_hashes_in_its_own_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(f"de {number}", f"en {number}") for number in range(9)]
    everything = iwslt14.read_prepared(prepared(tmp_path, *pairs))
    chosen = pairs[6:2:-2]
    subset("iwslt14-50k", chosen, tmp_path, monkeypatch)
    corpus = Iwslt14Corpus(source="iwslt14", folder=tmp_path, subset="50k")
    parts = iwslt14.prepare(corpus, tmp_path / "nowhere", processes=1)
    assert parts == {**everything, "train": Part(chosen, Drops(not_chosen=8))}


def test_a_subset_of_another_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = [(f"de {number}", f"en {number}") for number in range(9)]
    subset("iwslt14-50k", [*text, ("etwas", "else"), ("und", "more")], tmp_path, monkeypatch)
    lost = subsets.pair_hash(("etwas", "else"))
    with refused(CorpusError, "iwslt14-50k", "2 of its 11 pairs are not in the text", lost):
        subsets.select(text, "iwslt14-50k")


def test_the_hashes_that_come_along_are_of_as_many_pairs_as_is_said() -> None:
    of_config = get_args(get_args(Iwslt14Corpus.model_fields["subset"].annotation)[0])
    assert set(of_config) == set(subsets.SIZES)
    for name, size in subsets.SIZES.items():
        hashes = resources.files(subsets).joinpath(f"iwslt14-{name}.txt").read_text(encoding="ascii").split()
        assert len(hashes) == len(set(hashes)) == size


def test_more_pairs_than_there_are_are_refused(tmp_path: Path) -> None:
    corpus = Iwslt14Corpus(source="iwslt14", folder=prepared(tmp_path), pairs=1000)
    with refused(CorpusError, "pairs: 1,000 of ", "pairs of train", "leave it out"):
        iwslt14.prepare(corpus, tmp_path, processes=1)


@pytest.mark.skipif(not (OFFICIAL and PREPARED), reason="the release's files are not at hand")
def test_the_official_xml_files_give_the_published_test_set() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(OFFICIAL or "").glob("*.xml")}
    texts |= {f"train.tags.de-en.{language}": "" for language in ("de", "en")}
    parts = iwslt14.prepare_release(texts, processes=1)
    for side, language in enumerate(("de", "en")):
        published = Path(PREPARED or "") / f"test.{language}"
        assert [pair[side] for pair in parts["test"].pairs] == list(lines_of(published))
        assert checksum(published, "git-blob") == SOURCES["iwslt14"].published[published.name]
