"""The jobs of a study: a run, a fine-tuning, a measurement of the theory, a trace of first updates; and the prepared
texts that they read, whose folders the rules of `corpora.smk` make."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from preln.config import Corpus, EnglishText, Settings


class Job(ABC):
    """A job of a study, which leaves records.

    Attributes:
        kind: the folder in a study's results in which jobs of its kind have a folder each.
        records: the names of its records in this folder. The first says what it is.
        id: its name, which no other job of its kind has in the study.
        identity: all that can change its numbers, as plain JSON values.
        execution: on what it is computed, which is not part of what it is (an `Execution`).
    """

    kind: ClassVar[str]
    records: ClassVar[tuple[str, ...]]
    id: Any
    execution: Any

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]: ...

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """The prepared texts that it reads."""
        return ()

    @property
    def weights_of(self) -> tuple[Job, ...]:
        """The runs whose weights it reads."""
        return ()

    @property
    def folder(self) -> str:
        """The folder of its records, in the folder of the study's results."""
        return f"{self.kind}/{self.id}"

    @property
    def files(self) -> list[str]:
        """Its records, in the folder of the study's results."""
        return [f"{self.folder}/{name}" for name in self.records]


def digest(value: dict[str, Any]) -> str:
    """SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Prepared:
    """A prepared text or task.

    Attributes:
        folder: its folder, relative to that in which the workflow runs.
        settings: the study's settings of it.
        stages: the folders in it that a job reads.
        first: the folder in it that is made first, from the files of `settings.local_paths`.
        record: the file in `first` with the checksums that the records of jobs have too; empty if they have none.
        option: the option of a job's command that takes the folder.
    """

    folder: str
    settings: Settings
    stages: tuple[str, ...]
    first: str
    record: str = ""
    option: str = "--prepared"

    @property
    def paths(self) -> list[str]:
        return [f"{self.folder}/{stage}" for stage in self.stages]


def text_id(name: str, settings: Settings) -> str:
    """The name of the folder of a prepared corpus, text or task: its name and the settings that it was prepared with,
    for example `embedded-3f2a9c1b`. Studies with the same settings share it."""
    return f"{name}-{digest(settings.identity)[:8]}"


def of_corpus(name: str, corpus: Corpus) -> Prepared:
    """The parallel corpus of this name in a study."""
    return Prepared(f"resources/corpora/{text_id(name, corpus)}", corpus, ("text", "binary"), "text", "corpus.json")


def of_text(name: str, text: EnglishText) -> Prepared:
    """The English text of this name in a study."""
    stages = ("text", "bpe", "binary")
    return Prepared(f"resources/texts/{text_id(name, text)}", text, stages, "text", "text.json")
