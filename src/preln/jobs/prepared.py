"""The prepared texts that jobs read: their folders, which the rules of `corpora.smk` make, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from preln.config import Corpus, EnglishText, Settings
from preln.jobs.base import digest


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
