"""IWSLT14 German-English as the field prepares it (the split of fairseq's `prepare-iwslt14.sh`).

Train and valid are the cleaned training talks, with every 23rd pair in valid (160,239 and 7,283 pairs); test is the
five released development and test sets, concatenated (6,750 pairs). The paper reports about 153K, 7K and 7K pairs:
another split of the same release, whose recipe is not published. The split here is the field's standard, and its files
have published checksums, which verify a preparation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from preln.config import Iwslt14Corpus
from preln.corpora import CorpusError
from preln.corpora.published import FILES, Source, require_content, text_files
from preln.corpora.streams import members
from preln.corpora.subsets import select
from preln.corpora.text import PARTS, Drops, Pair, Part, clean, evaluation_segments, paired, read_parallel, screen
from preln.corpora.tokenisation import LinePreparation, map_lines, prepare_pairs

TEST_SETS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
"""The released sets that make up test, in order."""

MOST_WORDS = 175
VALID_INTERVAL = 23

PAIRS = 160_239
"""Pairs in the field's train."""

_ARCHIVE = FILES["de-en.tgz"]
_MEMBERS = {
    language: (f"train.tags.de-en.{language}", *(f"IWSLT14.{name}.de-en.{language}.xml" for name in TEST_SETS))
    for language in Iwslt14Corpus.languages
}
_TALK_DATA = ("<url>", "<talkid>", "<keywords>")
_TITLE_TAGS = re.compile(r"</?(?:title|description)>")


def prepare(corpus: Iwslt14Corpus, downloads: Path, processes: int) -> dict[str, Part]:
    """Train, valid and test, from the archive in `downloads` or from the corpus's local folder.

    Raises:
        CorpusError: if the archive or the folder has the wrong content, or fewer pairs than requested.
    """
    folder = corpus.folder or downloads
    archive = folder / _ARCHIVE.name
    if corpus.folder and not archive.exists():
        parts = read_prepared(corpus.folder)
    else:
        require_content(archive, _ARCHIVE)
        parts = prepare_release(read_archive(archive), processes)
    full = parts["train"]
    train = select(full.pairs, f"iwslt14-{corpus.subset}") if corpus.subset else full.pairs
    if corpus.pairs and corpus.pairs > len(train):
        raise CorpusError(f"pairs: {corpus.pairs:,} of {len(train):,} pairs of train; leave it out to train on all")
    train = train[: corpus.pairs]
    drops = full.drops + Drops(not_chosen=len(full.pairs) - len(train))
    return {**parts, "train": replace(full, pairs=train, drops=drops)}


def read_archive(archive: Path) -> dict[str, str]:
    """The texts in the release's archive, by file name."""
    names = {name for of_language in _MEMBERS.values() for name in of_language}
    chosen = members(archive, lambda path: PurePosixPath(path).name in names)
    return {PurePosixPath(path).name: content.read().decode("utf-8") for path, content in chosen}


def prepare_release(texts: Mapping[str, str], processes: int) -> dict[str, Part]:
    """Train, valid and test from the release's files (name to content)."""
    training: dict[str, list[str]] = {}
    test: dict[str, list[str]] = {}
    for language, (train_name, *test_names) in _MEMBERS.items():
        preparation = LinePreparation(language)
        training[language] = map_lines(
            preparation, training_lines(texts[train_name]), processes, f"tokenise train.{language}"
        )
        segments = [segment for name in test_names for segment in evaluation_segments(texts[name].split("\n"))]
        test[language] = map_lines(preparation, segments, processes, f"tokenise test.{language}")
    trained, tested = (
        list(paired(text["de"], text["en"], f"{name}.de", f"{name}.en"))
        for text, name in ((training, "train.tags.de-en"), (test, "IWSLT14.TED.*.de-en"))
    )
    cleaned = clean(Part(trained), MOST_WORDS)
    train, valid = interleaved(cleaned.pairs)
    return {
        "train": screen(Part(train, cleaned.drops)),
        "valid": screen(Part(valid)),
        "test": screen(Part(tested)),
    }


def read_prepared(folder: Path) -> dict[str, Part]:
    """Train, valid and test from a folder of tokenised and lower-cased text.

    Raises:
        CorpusError: if a file cannot be read or is not parallel text.
    """
    paths = {(part, language): folder / f"{part}.{language}" for part in PARTS for language in Iwslt14Corpus.languages}
    spacing = [LinePreparation(language, tokenise=False, lowercase=False) for language in Iwslt14Corpus.languages]
    parts = {}
    for name in PARTS:
        part = read_parallel(paths[name, "de"], paths[name, "en"])
        parts[name] = replace(part, pairs=prepare_pairs(part.pairs, spacing, 1, f"read {name}"))
    return {**parts, **{name: clean(parts[name], MOST_WORDS) for name in ("train", "valid")}}


def training_lines(text: str) -> list[str]:
    """The sentences in a `train.tags` file: talks, and their titles and descriptions without tags."""
    return [
        _TITLE_TAGS.sub("", line)
        for line in text.removesuffix("\n").split("\n")
        if not any(tag in line for tag in _TALK_DATA)
    ]


def interleaved(pairs: list[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Train and valid: valid is every 23rd pair."""
    valid = pairs[VALID_INTERVAL - 1 :: VALID_INTERVAL]
    train = [pair for number, pair in enumerate(pairs, start=1) if number % VALID_INTERVAL]
    return train, valid


SOURCE = Source(
    name="iwslt14",
    title="IWSLT14 German-English",
    origin="TED talks; IWSLT 2014 evaluation campaign (WIT3)",
    licence="CC BY-NC-ND 3.0, TED Conference LLC",
    prepare=prepare,
    downloads=(_ARCHIVE,),
    local=(((_ARCHIVE.name,),), text_files(Iwslt14Corpus.languages)),
    published={
        "train.de": "30660ed508af1be868cfd3f09a0bd7d71b4517c6",
        "train.en": "3b48a76e28ede930fd5e177dce14686147a10ee3",
        "valid.de": "c997f9ded4b538aa94381d5a2dd2a6a6a90d7e83",
        "valid.en": "ba7e1ae98be7fabd8f26703b5c53e3a84e0f0136",
        "test.de": "8a30624033b86b82c0442f6f240535a89b7f2da4",
        "test.en": "1d1650c86d161d435f049c3b0e1261f0f0e13334",
    },
)
