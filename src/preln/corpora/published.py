"""Published files with their checksums, and sources of parallel text."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from preln.corpora import CorpusError
from preln.corpora.text import Part
from preln.corpora.tokenisation import LinePreparation

Algorithm = Literal["sha256", "sha1", "md5", "git-blob"]


@dataclass(frozen=True)
class Download:
    """A file at an official address, and its checksum; `git-blob` is git's id for its content (`git hash-object`)."""

    address: str
    algorithm: Algorithm
    checksum: str

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]


FILES = {
    file.name: file
    for row in csv.DictReader(resources.files(__package__).joinpath("downloads.csv").read_text("ascii").splitlines())
    for file in [Download(**row)]  # type: ignore[arg-type]
}
"""The files of `downloads.csv` by name, each with the best checksum that is published; of IWSLT14, several public
repositories agree on the blob id."""


@dataclass(frozen=True)
class Source:
    """A source of parallel text, which a module of `preln.corpora.parallel` defines as `SOURCE`.

    Attributes:
        name: its name under `source` in a study.
        title: for readers.
        origin: where the text comes from.
        licence: the text's licence.
        prepare: prepares train, valid and test, tokenised, given a corpus's settings, the folder of the downloads and a
            number of processes; a part may come in pieces that fit into memory.
        line: the preparation of a line of raw text, given the corpus's settings and the line's language.
        downloads: the files that are downloaded unless the study names a local `folder`.
        local: the files in such a folder: one of several sets, each file by any of its names.
        published: published git blob ids of prepared files (`train.de`, ...), to check a preparation.
    """

    name: str
    title: str
    origin: str
    licence: str
    prepare: Callable[[Any, Path, int], Mapping[str, Part | Iterable[Part]]]
    line: Callable[[Any, str], LinePreparation] = lambda corpus, language: LinePreparation(language)
    downloads: tuple[Download, ...] = ()
    local: tuple[tuple[tuple[str, ...], ...], ...] = ()
    published: Mapping[str, str] = field(default_factory=dict)


def text_files(languages: tuple[str, str]) -> tuple[tuple[str, ...], ...]:
    """The names of prepared parallel text in a local folder: train.de, train.en, valid.de, ..."""
    return tuple((f"{part}.{language}",) for part in ("train", "valid", "test") for language in languages)


def checksum(path: Path, algorithm: Algorithm) -> str:
    """The checksum of a file's content, in hexadecimal."""
    digest: Any = algorithm
    if algorithm == "git-blob":
        head = f"blob {path.stat().st_size}\0".encode()
        digest = partial(hashlib.sha1, head, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, digest).hexdigest()


def require_content(path: Path, expected: Download) -> None:
    """Check that the file at `path` is the `expected` one.

    Raises:
        CorpusError: if the file is missing or has another checksum.
    """
    if not path.is_file():
        raise CorpusError(f"{path}: is missing; download it, or name the `folder` where it is in the study")
    actual = checksum(path, expected.algorithm)
    if actual != expected.checksum:
        raise CorpusError(
            f"{path}: its {expected.algorithm} checksum is {actual}, it should be {expected.checksum}: the file is "
            "damaged or a different one; put the right file into a folder, and name that as `folder` in the study"
        )
