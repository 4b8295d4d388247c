"""What others publish: files with their checksums, and sources of parallel text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from preln.corpora import CorpusError
from preln.corpora.text import Part
from preln.corpora.tokenisation import LinePreparation

GERMAN_ENGLISH = ("de", "en")
ENGLISH_GERMAN = ("en", "de")
"""The paper's directions of translation, on IWSLT14 and on WMT14: source and target."""

Algorithm = Literal["sha256", "sha1", "md5", "git-blob"]

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Download:
    """A file at an official address, and the checksum of its content; `git-blob` is the id that git gives it
    (`git hash-object`)."""

    address: str
    name: str
    algorithm: Algorithm
    checksum: str


@dataclass(frozen=True)
class Source:
    """One source of parallel text. A module of `preln.corpora.parallel` has it as `SOURCE`.

    Attributes:
        name: what a study gives under `source`.
        title: for readers.
        origin: where it comes from.
        licence: under which its text may be used.
        languages: source and target; None where the study says them as `source_language` and `target_language`.
        prepare: makes train, valid and test, tokenised, of a corpus's settings, the folder of the downloads and a
            number of processes; a part may come in pieces that fit into memory.
        line: what is done to a line of raw text, by the corpus's settings and the line's language.
        downloads: the files that are downloaded unless the study names a local `folder`.
        local: the files that such a folder holds: one of several sets, each file by any of its names.
        published: the git blob ids of prepared files (`train.de`, ...) where others published them, so that a
            preparation can be checked.
    """

    name: str
    title: str
    origin: str
    licence: str
    languages: tuple[str, str] | None
    prepare: Callable[[Any, Path, int], Mapping[str, Part | Iterable[Part]]]
    line: Callable[[Any, str], LinePreparation] = lambda corpus, language: LinePreparation(language)
    downloads: tuple[Download, ...] = ()
    local: tuple[tuple[tuple[str, ...], ...], ...] = ()
    published: Mapping[str, str] = field(default_factory=dict)


def text_files(languages: tuple[str, str]) -> tuple[tuple[str, ...], ...]:
    """The names that prepared parallel text has in a local folder: train.de, train.en, valid.de, ..."""
    return tuple((f"{part}.{language}",) for part in ("train", "valid", "test") for language in languages)


def git_blob_id(path: Path) -> str:
    """The id that git gives to a file's content (`git hash-object`), in hexadecimal."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def checksum(path: Path, algorithm: Algorithm) -> str:
    """The checksum of a file's content, in hexadecimal."""
    if algorithm == "git-blob":
        return git_blob_id(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def require_content(path: Path, expected: Download) -> None:
    """Check that the file at `path` is the `expected` one.

    Raises:
        CorpusError: if the file is missing or is another; the message has both checksums.
    """
    if not path.is_file():
        raise CorpusError(f"{path}: is missing; download it, or name the `folder` where it is in the study")
    found = checksum(path, expected.algorithm)
    if found != expected.checksum:
        raise CorpusError(
            f"{path}: its {expected.algorithm} checksum is {found}, it should be {expected.checksum}: the file is "
            "damaged or another; put the right one into a folder, and name that as `folder` in the study"
        )
