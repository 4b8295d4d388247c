"""WMT14 English-German, from the releases' archives and from raw text, of which a piece is in memory at a time."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from preln.config import Wmt14Corpus
from preln.corpora import CorpusError
from preln.corpora.parallel import wmt14
from preln.corpora.published import checksum
from preln.corpora.text import Drops, Pair, Part, paired
from tests.archives import tar

TEXTS = {
    "training-parallel-europarl-v7.tgz": {
        "training/europarl-v7.fr-en.en": "Not this one.\n",
        "training/europarl-v7.de-en.de": "Erstens, Herr Präsident.\nZweitens.\n\n",
        "training/europarl-v7.de-en.en": "First, Mr President.\nSecond.\nNothing.\n",
    },
    "training-parallel-commoncrawl.tgz": {
        "commoncrawl.de-en.en": "Third.\nFar too many words here.\n",
        "commoncrawl.de-en.de": "Drittens.\nKurz.\n",
    },
    "training-parallel-nc-v9.tgz": {
        "training/news-commentary-v9.de-en.en": "Fourth.\nA sentence of valid.\n",
        "training/news-commentary-v9.de-en.de": "Viertens.\nEin Satz von Valid.\n",
    },
    "dev.tgz": {
        "dev/newstest2012.en": "Not this one either.\n",
        "dev/newstest2013.en": "A sentence of valid.\n",
        "dev/newstest2013.de": "Ein Satz von Valid.\n",
    },
    "test-full.tgz": {
        "test-full/newstest2014-deen-src.en.sgm": '<doc>\n<seg id="1">It’s a test &amp; more.</seg>\n</doc>\n',
        "test-full/newstest2014-deen-ref.de.sgm": '<doc>\n<seg id="1">Es ist ein Test und mehr.</seg>\n</doc>\n',
    },
}
TRAIN = [
    ("First , Mr President .", "Erstens , Herr Präsident ."),
    ("Second .", "Zweitens ."),
    ("Third .", "Drittens ."),
    ("Fourth .", "Viertens ."),
]


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small archives, whose checksums are those that are known."""
    for name, texts in TEXTS.items():
        archive = tar(tmp_path / name, texts)
        known = replace(wmt14.ARCHIVES[name], algorithm="sha256", checksum=checksum(archive, "sha256"))
        monkeypatch.setitem(wmt14.ARCHIVES, name, known)
    return tmp_path


def train(parts: Mapping[str, object]) -> tuple[list[Pair], Drops]:
    """All pairs of train, whatever the pieces, and all drops."""
    pieces: list[Part] = list(parts["train"])  # type: ignore[call-overload]
    return [pair for piece in pieces for pair in piece.pairs], sum((piece.drops for piece in pieces), Drops())


@pytest.mark.parametrize("size", [1, 2, wmt14.PIECE])
def test_pieces_of_any_size_become_three_parts(size: int, releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wmt14, "PIECE", size)
    parts = wmt14.prepare(Wmt14Corpus(source="wmt14"), releases, processes=1)
    assert train(parts) == (TRAIN, Drops(empty=1, unequal_lengths=1, held_out=1))
    assert list(parts["valid"]) == [Part([("A sentence of valid .", "Ein Satz von Valid .")])]
    assert list(parts["test"]) == [Part([("It &apos;s a test &amp; amp ; more .", "Es ist ein Test und mehr .")])]


def test_no_more_than_a_piece_is_read_ahead(releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wmt14, "PIECE", 2)
    read: list[Pair] = []

    def counted(*arguments: object) -> object:
        for pair in paired(*arguments):  # type: ignore[arg-type]
            read.append(pair)
            yield pair

    monkeypatch.setattr(wmt14, "paired", counted)
    parts = wmt14.prepare(Wmt14Corpus(source="wmt14"), releases, processes=1)
    before = len(read)
    for number, _ in enumerate(parts["train"], start=1):
        assert len(read) - before <= 2 * number
    assert len(read) - before == 7


def test_raw_text_may_take_the_place_of_the_releases(tmp_path: Path) -> None:
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.en").write_text(f"A sentence of {part}.\nBoth.\n")
        (tmp_path / f"{part}.de").write_text(f"Ein Satz von {part}.\nBeide {part}.\n")
    parts = wmt14.prepare(Wmt14Corpus(source="wmt14", folder=tmp_path), tmp_path / "nowhere", processes=1)
    assert train(parts)[0] == [("A sentence of train .", "Ein Satz von train ."), ("Both .", "Beide train .")]


def test_each_archive_is_checked(releases: Path) -> None:
    (releases / list(wmt14.ARCHIVES)[2]).write_bytes(b"another")
    with pytest.raises(CorpusError, match=r"nc-v9\.tgz: its sha256 checksum is"):
        wmt14.prepare(Wmt14Corpus(source="wmt14"), releases, processes=1)
