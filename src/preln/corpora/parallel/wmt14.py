"""WMT14 English-German: Europarl, Common Crawl and News Commentary, newstest2013 for valid and newstest2014 for test.

About 4.5 million pairs stream from the releases' archives, a piece in memory at a time. They are tokenised like all
text, with their case, and cleaned at the limits of fairseq's `prepare-wmt14en2de.sh`, but by words before BPE, where
the script counts pieces after it. The script also normalises punctuation, splits hyphens and takes valid from train,
which is not done here. The paper only says that it follows Vaswani et al. (2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count, islice, zip_longest
from pathlib import Path
from typing import IO

from preln.config import Wmt14Corpus
from preln.corpora import CorpusError
from preln.corpora.published import ENGLISH_GERMAN, GERMAN_ENGLISH, Download, Source, require_content, text_files
from preln.corpora.streams import BROKEN, member
from preln.corpora.text import PARTS, Pair, Part, clean, evaluation_segments, lines_of, screen, without
from preln.corpora.tokenisation import LinePreparation, prepare_pairs

MOST_WORDS = 250
PIECE = 100_000
"""Pairs in memory at a time."""

ARCHIVES = {
    file.name: file
    for file in (
        Download(
            "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
            "sha256",
            "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
        ),
        Download(
            "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
            "sha256",
            "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
        ),
        Download(
            "http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
            "sha256",
            "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
        ),
        Download(
            "http://data.statmt.org/wmt19/translation-task/dev.tgz",
            "sha256",
            "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
        ),
        # No better checksum is published for this file.
        Download(
            "https://statmt.org/wmt14/test-full.tgz",
            "md5",
            "a8cd784e006feb32ac6f3d9ec7eb389a",
        ),
    )
}
"""The releases by the names of their archives."""

# Each archive's English and German files.
_TRAINING = {
    "training-parallel-europarl-v7.tgz": ("europarl-v7.de-en.en", "europarl-v7.de-en.de"),
    "training-parallel-commoncrawl.tgz": ("commoncrawl.de-en.en", "commoncrawl.de-en.de"),
    "training-parallel-nc-v9.tgz": ("news-commentary-v9.de-en.en", "news-commentary-v9.de-en.de"),
}
_VALID = {"dev.tgz": ("newstest2013.en", "newstest2013.de")}
_TEST = {"test-full.tgz": ("newstest2014-deen-src.en.sgm", "newstest2014-deen-ref.de.sgm")}


def prepare(corpus: Wmt14Corpus, downloads: Path, processes: int) -> dict[str, Iterable[Part]]:
    """Train, valid and test in pieces, from the archives in `downloads`, or from the corpus's local folder, with the
    archives or raw text as train.en, train.de, valid.en, ...

    Raises:
        CorpusError: if an archive or a file has the wrong content; for train, when its pieces are read.
    """
    folder = corpus.folder or downloads
    if corpus.folder and not any((folder / name).exists() for name in ARCHIVES):
        raw = _of_files(folder)
    else:
        for name in ARCHIVES:
            require_content(folder / name, ARCHIVES[name])
        raw = {"train": _of(folder, _TRAINING), "valid": _of(folder, _VALID), "test": _of(folder, _TEST)}
    valid, test = (_tokenised(raw[name], processes, f"tokenise {name}") for name in ("valid", "test"))
    held_out = {*valid.pairs, *test.pairs}
    return {"train": _cleaned(raw["train"], held_out, processes), "valid": [valid], "test": [test]}


def _cleaned(pairs: Iterable[Pair], held_out: set[Pair], processes: int) -> Iterator[Part]:
    """Train in pieces, without pairs in valid or test."""
    iterator = iter(pairs)
    for number in count():
        piece = list(islice(iterator, PIECE))
        if not piece:
            break
        part = clean(_tokenised(piece, processes, f"tokenise, from pair {number * PIECE:,} on,"), MOST_WORDS)
        yield without(part, lambda pair: "held_out" if pair in held_out else None)


def _line(language: str) -> LinePreparation:
    """The preparation of a line, which keeps its case."""
    return LinePreparation(language, lowercase=False)


def _tokenised(pairs: Iterable[Pair], processes: int, label: str) -> Part:
    usable = screen(Part(list(pairs)))
    preparations = [_line(language) for language in ENGLISH_GERMAN]
    return Part(prepare_pairs(usable.pairs, preparations, processes, label), usable.drops)


def _of(folder: Path, archives: Mapping[str, tuple[str, str]]) -> Iterator[Pair]:
    for archive, names in archives.items():
        with ExitStack() as stack:
            files = [stack.enter_context(member(folder / archive, name)) for name in names]
            source, target = (_sentences(file, name) for file, name in zip(files, names, strict=True))
            yield from _pairs(source, target, str(folder / archive))


def _of_files(folder: Path) -> dict[str, Iterator[Pair]]:
    paths = {name: [folder / f"{name}.{language}" for language in ENGLISH_GERMAN] for name in PARTS}
    return {
        name: _pairs(lines_of(source), lines_of(target), f"{folder / name}.*")
        for name, (source, target) in paths.items()
    }


def _sentences(file: IO[bytes], name: str) -> Iterator[str]:
    """The segments of an SGML file, or the lines of a text; only a line feed ends a line."""
    if name.endswith(".sgm"):
        yield from evaluation_segments(file.read().decode("utf-8"))
    else:
        for line in file:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")


def _pairs(sources: Iterable[str], targets: Iterable[str], where: str) -> Iterator[Pair]:
    try:
        for source, target in zip_longest(sources, targets):
            if source is None or target is None:
                short, long = ENGLISH_GERMAN if source is None else reversed(ENGLISH_GERMAN)
                raise CorpusError(
                    f"{where}: {short} has fewer lines than {long}; they must be line by line translations"
                )
            yield source, target
    except (*BROKEN, UnicodeDecodeError) as error:
        raise CorpusError(f"{where}: cannot be read as text in UTF-8 ({error}); download it again") from None


SOURCE = Source(
    name="wmt14",
    title="WMT14 English-German",
    origin="Europarl v7, Common Crawl and News Commentary v9; newstest2013 and newstest2014 (WMT14)",
    licence="free for research; Common Crawl's text has no licence of its own",
    languages=ENGLISH_GERMAN,
    prepare=prepare,
    line=lambda corpus, language: _line(language),
    downloads=tuple(ARCHIVES.values()),
    local=(tuple((name,) for name in ARCHIVES), text_files(GERMAN_ENGLISH)),
)
