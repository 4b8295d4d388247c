"""WMT14 English-German: Europarl, Common Crawl and News Commentary, newstest2013 for valid and newstest2014 for test.

About 4.5 million pairs stream from the releases' archives, a piece in memory at a time. They are tokenised like all
text, with their case, and cleaned at the limits of fairseq's `prepare-wmt14en2de.sh`, but by words before BPE, where
the script counts pieces after it. The script also normalises punctuation, splits hyphens and takes valid from train,
which is not done here. The paper only says that it follows Vaswani et al. (2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice
from pathlib import Path

from preln.config import Wmt14Corpus
from preln.corpora.published import FILES, Source, require_content, text_files
from preln.corpora.streams import member
from preln.corpora.text import PARTS, Pair, Part, clean, evaluation_segments, lines_of, paired, screen, without
from preln.corpora.tokenisation import LinePreparation, prepare_pairs

MOST_WORDS = 250
PIECE = 100_000
"""Pairs in memory at a time."""

# Each archive's English and German files.
_TRAINING = {
    "training-parallel-europarl-v7.tgz": ("europarl-v7.de-en.en", "europarl-v7.de-en.de"),
    "training-parallel-commoncrawl.tgz": ("commoncrawl.de-en.en", "commoncrawl.de-en.de"),
    "training-parallel-nc-v9.tgz": ("news-commentary-v9.de-en.en", "news-commentary-v9.de-en.de"),
}
_VALID = {"dev.tgz": ("newstest2013.en", "newstest2013.de")}
_TEST = {"test-full.tgz": ("newstest2014-deen-src.en.sgm", "newstest2014-deen-ref.de.sgm")}
ARCHIVES = {name: FILES[name] for name in (*_TRAINING, *_VALID, *_TEST)}
"""The releases by the names of their archives."""


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
    preparations = [_line(language) for language in Wmt14Corpus.languages]
    return Part(prepare_pairs(usable.pairs, preparations, processes, label), usable.drops)


def _of(folder: Path, archives: Mapping[str, tuple[str, str]]) -> Iterator[Pair]:
    for archive, names in archives.items():
        source, target = (_sentences(folder / archive, name) for name in names)
        first, second = (folder / archive / name for name in names)
        yield from paired(source, target, first, second)


def _of_files(folder: Path) -> dict[str, Iterator[Pair]]:
    paths = {name: [folder / f"{name}.{language}" for language in Wmt14Corpus.languages] for name in PARTS}
    return {
        name: paired(lines_of(source), lines_of(target), source, target) for name, (source, target) in paths.items()
    }


def _sentences(archive: Path, name: str) -> Iterable[str]:
    """The segments of an archive's SGML file, or the lines of a text of it."""
    lines = lines_of(archive / name, opened=member(archive, name))
    return evaluation_segments(lines) if name.endswith(".sgm") else lines


SOURCE = Source(
    name="wmt14",
    title="WMT14 English-German",
    origin="Europarl v7, Common Crawl and News Commentary v9; newstest2013 and newstest2014 (WMT14)",
    licence="free for research; Common Crawl's text has no licence of its own",
    prepare=prepare,
    line=lambda corpus, language: _line(language),
    downloads=tuple(ARCHIVES.values()),
    local=(tuple((name,) for name in ARCHIVES), text_files(Wmt14Corpus.languages)),
)
