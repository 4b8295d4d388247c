"""The English texts to pre-train on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SerializationInfo, SerializerFunctionWrapHandler, model_serializer, model_validator

from preln.config import base
from preln.config.base import DATES, IDENTITY, Copy, LocalPath, Settings, content_of, later
from preln.config.embedded import DOCUMENTS, EmbeddedText, at_most

WIKIPEDIA_VERSION = 2
"""Raised when the mark-up of an article can be read otherwise with the code; a raise prepares every text with articles
of a dump anew, and trains every run on them anew."""


class _ArchiveSource(Settings):
    folder: Copy = Field(None, description="A local archive, or a folder of its files, instead of the download.")


class EmbeddedSource(EmbeddedText):
    """English documents that come with the package."""

    source: Literal["embedded"]
    documents: Annotated[int, at_most(DOCUMENTS, "text of your own (source: files)")] = Field(
        DOCUMENTS, ge=200, le=DOCUMENTS, description="Documents of the text."
    )
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of the choice of documents and of their order.")


class WikitextSource(_ArchiveSource):
    """WikiText-103 or WikiText-2, raw: articles of the English Wikipedia."""

    source: Literal["wikitext"]
    size: Literal[2, 103] = Field(103, description="Million words: 103 or 2.")


class WikipediaSource(Settings):
    """A dump of the English Wikipedia, without its mark-up."""

    source: Literal["wikipedia"]
    date: str | None = Field(None, pattern=DATES, description="The dump's date, such as 20260101.")
    file: LocalPath | None = Field(None, description="A local `pages-articles` dump instead of the download.")

    @model_validator(mode="after")
    def _either(self) -> WikipediaSource:
        if (self.date is None) == (self.file is None):
            raise ValueError("date, file: give one of them")
        return self

    @model_serializer(mode="wrap")
    def _as_read(self, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        version = {"version": WIKIPEDIA_VERSION} if info.context == IDENTITY else {}
        return {**plain(self), **version}


class BookcorpusSource(_ArchiveSource):
    """BookCorpus: sentences of novels, without a mark between books."""

    source: Literal["bookcorpus"]
    lines: int = Field(1000, ge=10, le=1_000_000, description="Lines (sentences) that make a document.")


class TextFilesSource(Settings):
    """English text of your own, in UTF-8. The text is its content: what is moved or copied trains nothing again.
    Refused are a document or line of more than 64 MiB in memory, an encrypted archive, a link to a text in an archive,
    and a linked folder in a folder."""

    source: Literal["files"]
    path: LocalPath = Field(
        description="A text file, also compressed (.gz, .bz2, .xz, .zst), an archive, or a folder of these."
    )
    documents: Literal["file", "blank-line", "line"] | Annotated[int, Field(ge=10, le=1_000_000)] = Field(
        "file",
        description="What a document is. `file`: each file; `blank-line`: what is between blank lines; `line`: each "
        "line; a number: so many paragraphs, for few long files.",
    )
    sha256: str | None = later(
        None, "The checksum of the text, which a study has beside its results. Without it, the files tell."
    )

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file, or of the folder's files."""
        return self.sha256 or content_of(self.path)

    @model_serializer(mode="wrap")
    def _by_content(self, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        content = plain(self)
        match info.context:
            case base.IDENTITY:
                return {name: value for name, value in content.items() if name != "sha256"} | {"path": self.checksum}
            case base.RECORDED:
                return content | {"sha256": self.checksum}
        return content


TextSource = Annotated[
    EmbeddedSource | WikitextSource | WikipediaSource | BookcorpusSource | TextFilesSource,
    Field(discriminator="source"),
]


class EnglishText(Settings):
    """English documents for BERT or language models. One of each 200 is held out as valid."""

    sources: tuple[TextSource, ...] = Field(min_length=1, description="Where they come from, one after the other.")
    vocabulary: int = Field(32000, ge=100, le=64000, description="Size of the SentencePiece BPE vocabulary.")
    seed: int = Field(
        1, ge=0, lt=2**31, description="Seed of the documents that are held out: one of each 200 (appendix A.2)."
    )
