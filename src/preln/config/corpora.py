"""The parallel corpora that a study may name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    AfterValidator,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from preln.config import base
from preln.config.base import Copy, LocalPath, Settings, content_of, later
from preln.config.embedded import PAIRS, at_most
from preln.corpora.languages import MOSES, language_of

LanguageCode = Annotated[
    str,
    AfterValidator(lambda code: language_of(code).tag),
    Field(
        description="A code of ISO 639, such as nl or deu, with a script or a region if there is more than one: pt-PT, "
        "zho_Hant, zh-TW."
    ),
]


class _Corpus(Settings):
    vocabulary: int = Field(10000, ge=100, le=64000, description="Size of the joint SentencePiece BPE vocabulary.")


class EmbeddedCorpus(_Corpus):
    """German-English sentences that come with the package. Nothing is downloaded."""

    languages: ClassVar[tuple[str, str]] = ("de", "en")
    source: Literal["embedded"]
    pairs: Annotated[int, at_most(PAIRS, "text of your own (source: files)")] = Field(
        PAIRS, ge=1000, le=PAIRS, description="Sentence pairs in train, valid and test together: the first so many."
    )
    held_out: int = Field(500, ge=10, lt=50000, description="Sentence pairs of valid, and again as many of test.")
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of the split.")

    @model_validator(mode="after")
    def _some_train(self) -> EmbeddedCorpus:
        if 2 * self.held_out >= self.pairs:
            raise ValueError(
                f"held_out: {self.held_out} pairs of valid and as many of test leave none of {self.pairs} for train"
            )
        return self


class Iwslt14Corpus(_Corpus):
    """IWSLT14 German-English, prepared as the field does: 160,239 pairs of train, every 23rd line as valid, the five
    official sets as test. The paper speaks of 153K/7K/7K, another split of the same talks. This one can be checked line
    by line against published checksums."""

    languages: ClassVar[tuple[str, str]] = ("de", "en")
    source: Literal["iwslt14"]
    folder: Copy = Field(
        None,
        description="A local folder instead of the download. It holds de-en.tgz, or text that is already tokenised, "
        "as train.de, train.en, valid.de, ...",
    )
    subset: Literal["50k"] | None = later(
        None,
        "Train on a subset of the official text, chosen by the hashes of its pairs: `50k` are 50,428 pairs, a third of "
        "all. Hashes can name text that may not be passed on.",
    )
    pairs: int | None = Field(
        None, ge=1000, le=1_000_000, description="Train on the first so many pairs. Without it, train on all."
    )


class Wmt14Corpus(_Corpus):
    """WMT14 English-German: some 4.5 million pairs of Europarl, Common Crawl and News Commentary, with their case;
    newstest2013 is valid and newstest2014 test."""

    languages: ClassVar[tuple[str, str]] = ("en", "de")
    source: Literal["wmt14"]
    folder: Copy = Field(
        None,
        description="A local folder instead of the downloads. It holds the releases' archives, or raw text as "
        "train.en, train.de, valid.en, ...",
    )


class TextPaths(Settings):
    """The two sides of one part of a parallel text: UTF-8, one sentence a line, line by line translations. If a side of
    a pair has no visible character, or more than 10,000 characters, the pair is left out and counted. A line of more
    than 64 MiB is refused. The text is its content: files that are moved or copied train nothing again."""

    source: LocalPath
    target: LocalPath
    sha256: tuple[str, str] | None = later(
        None, "The checksums of both files, which a study has beside its results. Without them, the files tell."
    )

    @property
    def files(self) -> tuple[Path, Path]:
        """Source and target."""
        return self.source, self.target

    @property
    def checksums(self) -> tuple[str, str]:
        """The SHA-256 of source and target."""
        return self.sha256 or (content_of(self.source), content_of(self.target))

    @model_serializer(mode="wrap")
    def _by_content(self, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        match info.context:
            case base.IDENTITY:
                return dict(zip(("source", "target"), self.checksums, strict=True))
            case base.RECORDED:
                return {**plain(self), "sha256": list(self.checksums)}
        return plain(self)


class FilesCorpus(_Corpus):
    """Parallel text of your own, in any two languages. The job's output and the text's `corpus.json` have a warning if
    the lines of the two sides are in different order or in one language. They also have one if valid and test are the
    same text."""

    source: Literal["files"]
    source_language: LanguageCode
    target_language: LanguageCode
    train: TextPaths = Field(description="The files of both sides: `source` and `target`.")
    valid: TextPaths | None = Field(None, description="Likewise. Without it, `held_out` pairs of train.")
    test: TextPaths | None = Field(None, description="Likewise. Without it, `held_out` pairs of train.")
    held_out: int = Field(1000, ge=1, le=1_000_000, description="Pairs taken from train for a part that is not given.")
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of the held-out choice.")
    tokenise: bool = Field(
        True,
        description=f"Moses tokenises {', '.join(MOSES.values())}. Text in other languages is left as it is, for "
        "SentencePiece alone. With `false`, all text is, for example because it is tokenised already.",
    )
    lowercase: bool = Field(True, description="Lower-case both sides.")

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target, as every corpus has them."""
        return self.source_language, self.target_language

    @model_validator(mode="after")
    def _two_languages(self) -> FilesCorpus:
        if self.source_language == self.target_language:
            raise ValueError(f"target_language: {self.target_language} is the source language too")
        return self

    @property
    def identity(self) -> dict[str, Any]:
        """As of every section, with the languages that are not tokenised; Moses tore their words once."""
        untokenised = [code for code in self.languages if self.tokenise and language_of(code).moses is None]
        return super().identity | ({"untokenised": untokenised} if untokenised else {})


Corpus = Annotated[EmbeddedCorpus | Iwslt14Corpus | Wmt14Corpus | FilesCorpus, Field(discriminator="source")]

CORPORA: tuple[type[Settings], ...] = get_args(get_args(Corpus)[0])
"""The classes of all corpora."""
