"""What is known of what others publish: addresses and checksums of downloads; titles, origins, licences of sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from preln.config import (
    Corpus,
    EmbeddedCorpus,
    FilesCorpus,
    Iwslt14Corpus,
    MrpcTask,
    RteTask,
    Task,
    TextSource,
    WikipediaSource,
    WikitextSource,
    Wmt14Corpus,
)

GERMAN_ENGLISH = ("de", "en")
ENGLISH_GERMAN = ("en", "de")
"""The paper's directions of translation, on IWSLT14 and on WMT14: source and target."""

WMT14_ARCHIVES = (
    "training-parallel-europarl-v7.tgz",
    "training-parallel-commoncrawl.tgz",
    "training-parallel-nc-v9.tgz",
    "dev.tgz",
    "test-full.tgz",
)

IWSLT14_PAIRS = 160_239
"""Pairs of train, as the field prepares the release."""

TEXT_ENDINGS = (".txt", ".raw", ".tokens")
ARCHIVE_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""The endings of names of English texts, and of archives of them."""
TEXT_FILES = f"{', '.join(TEXT_ENDINGS)}, and archives of them ({', '.join(ARCHIVE_ENDINGS)})"
"""Both, as messages have them."""

Algorithm = Literal["sha256", "sha1", "md5", "git-blob"]


@dataclass(frozen=True)
class Download:
    """A file at an official address, and the checksum of its content; `git-blob` is the id that git gives it
    (`git hash-object`)."""

    address: str
    name: str
    algorithm: Algorithm
    checksum: str


DOWNLOADS: Mapping[str, Download] = {
    file.name: file
    for file in (
        # No SHA-256 of this file was ever published; several public repositories agree on the blob id.
        Download(
            "http://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
            "de-en.tgz",
            "git-blob",
            "aa8c3f40f8836f1d43701448f94fe7e230082b4c",
        ),
        Download(
            "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
            "training-parallel-europarl-v7.tgz",
            "sha256",
            "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
        ),
        Download(
            "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
            "training-parallel-commoncrawl.tgz",
            "sha256",
            "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
        ),
        Download(
            "http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
            "training-parallel-nc-v9.tgz",
            "sha256",
            "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
        ),
        Download(
            "http://data.statmt.org/wmt19/translation-task/dev.tgz",
            "dev.tgz",
            "sha256",
            "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
        ),
        # Nobody has published a better checksum of this file.
        Download(
            "https://statmt.org/wmt14/test-full.tgz",
            "test-full.tgz",
            "md5",
            "a8cd784e006feb32ac6f3d9ec7eb389a",
        ),
        Download(
            "https://wikitext.smerity.com/wikitext-2-raw-v1.zip",
            "wikitext-2-raw-v1.zip",
            "sha256",
            "ef7edb566e3e2b2d31b29c1fdb0c89a4cc683597484c3dc2517919c615435a11",
        ),
        Download(
            "https://wikitext.smerity.com/wikitext-103-raw-v1.zip",
            "wikitext-103-raw-v1.zip",
            "sha256",
            "91c00ae287f0d699e18605c84afc9e45c192bc6b7797ff8837e5474655a33794",
        ),
        Download(
            "https://storage.googleapis.com/huggingface-nlp/datasets/bookcorpus/bookcorpus.tar.bz2",
            "bookcorpus.tar.bz2",
            "sha256",
            "03a29333b2b35e98a375b6ad7d2f1651835655cd348fb89c864136bce69a964c",
        ),
        Download(
            "https://dl.fbaipublicfiles.com/senteval/senteval_data/msr_paraphrase_train.txt",
            "msr_paraphrase_train.txt",
            "sha256",
            "60a9b09084528f0673eedee2b69cb941920f0b8cd0eeccefc464a98768457f89",
        ),
        Download(
            "https://dl.fbaipublicfiles.com/glue/data/mrpc_dev_ids.tsv",
            "mrpc_dev_ids.tsv",
            "sha256",
            "971d7767d81b997fd9060ade0ec23c4fc31cbb226a55d1bd4a1bac474eb81dc7",
        ),
        Download(
            "https://dl.fbaipublicfiles.com/glue/data/RTE.zip",
            "RTE.zip",
            "sha256",
            "6bf86de103ecd335f3441bd43574d23fef87ecc695977a63b82d5efb206556ee",
        ),
    )
}
"""The files whose content is known, by name."""

DUMPS = "https://dumps.wikimedia.org/enwiki"
"""Where the dumps of the English Wikipedia are, each with a list of checksums beside it."""


def wikipedia_dump(date: str) -> str:
    """The name of a dump's file."""
    return f"enwiki-{date}-pages-articles.xml.bz2"


def is_text(name: str) -> bool:
    """Whether a file in a folder or an archive is one of text; other systems leave files of their own beside them."""
    path = PurePosixPath(name)
    return path.suffix in TEXT_ENDINGS and not path.name.startswith(".")


def needed_downloads(wanted: Corpus | TextSource | Task) -> tuple[str, ...]:
    """The names of the files that a corpus, a source of English text or a task downloads."""
    if getattr(wanted, "folder", None) or getattr(wanted, "file", None):
        return ()
    match wanted:
        case WikitextSource():
            return (f"wikitext-{wanted.size}-raw-v1.zip",)
        case WikipediaSource(date=str(date)):
            return (wikipedia_dump(date),)
        case MrpcTask():
            return ("msr_paraphrase_train.txt", "mrpc_dev_ids.tsv")
        case RteTask():
            return ("RTE.zip",)
        case Wmt14Corpus():
            return WMT14_ARCHIVES
    return {"iwslt14": ("de-en.tgz",), "bookcorpus": ("bookcorpus.tar.bz2",)}.get(wanted.source, ())


@dataclass(frozen=True)
class Source:
    """One source of parallel text.

    `published` holds the git blob ids of prepared files (`train.de`, ...) where others published them, so
    that a preparation can be checked.
    """

    title: str
    origin: str
    licence: str
    published: Mapping[str, str] = field(default_factory=dict)


SOURCES: Mapping[str, Source] = {
    "embedded": Source(
        title="German-English sentences of a small grammar",
        origin="generated by this package (preln.generated_text)",
        licence="MIT, as this package",
    ),
    "iwslt14": Source(
        title="IWSLT14 German-English",
        origin="TED talks; IWSLT 2014 evaluation campaign (WIT3)",
        licence="CC BY-NC-ND 3.0, TED Conference LLC",
        published={
            "train.de": "30660ed508af1be868cfd3f09a0bd7d71b4517c6",
            "train.en": "3b48a76e28ede930fd5e177dce14686147a10ee3",
            "valid.de": "c997f9ded4b538aa94381d5a2dd2a6a6a90d7e83",
            "valid.en": "ba7e1ae98be7fabd8f26703b5c53e3a84e0f0136",
            "test.de": "8a30624033b86b82c0442f6f240535a89b7f2da4",
            "test.en": "1d1650c86d161d435f049c3b0e1261f0f0e13334",
        },
    ),
    "wmt14": Source(
        title="WMT14 English-German",
        origin="Europarl v7, Common Crawl and News Commentary v9; newstest2013 and newstest2014 (WMT14)",
        licence="free for research; Common Crawl's text has no licence of its own",
    ),
    "files": Source(
        title="the user's own parallel text",
        origin="the files that the study names",
        licence="as the owner of the files says",
    ),
}
"""The sources of parallel text by the name that a study gives under `source`."""


def languages(corpus: Corpus) -> tuple[str, str]:
    """Source and target language of a corpus."""
    match corpus:
        case FilesCorpus():
            return corpus.source_language, corpus.target_language
        case Wmt14Corpus():
            return ENGLISH_GERMAN
        case EmbeddedCorpus() | Iwslt14Corpus():
            return GERMAN_ENGLISH
