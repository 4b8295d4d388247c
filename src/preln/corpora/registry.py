"""Published files: addresses and checksums of downloads; titles, origins and licences of sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from preln.config import (
    BookcorpusSource,
    Corpus,
    FilesCorpus,
    MrpcTask,
    RteTask,
    Task,
    TextSource,
    WikipediaSource,
    WikitextSource,
)
from preln.config.corpora import CORPORA
from preln.corpora import parallel
from preln.corpora.published import Download, Source
from preln.corpora.streams import COMPRESSED
from preln.discovery import defined

TEXT_ENDINGS = (".txt", ".raw", ".tokens")
ARCHIVE_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""The endings of names of English texts, and of archives of them."""
TEXT_FILES = (
    f"{', '.join(TEXT_ENDINGS)}, also compressed ({', '.join(COMPRESSED)}), and archives of them "
    f"({', '.join(ARCHIVE_ENDINGS)})"
)
"""Both, as messages have them."""


SOURCES: Mapping[str, Source] = defined(parallel, "SOURCE")
"""The sources of parallel text by the name that a study gives under `source`."""

BOOKCORPUS = Download(
    "https://storage.googleapis.com/huggingface-nlp/datasets/bookcorpus/bookcorpus.tar.bz2",
    "sha256",
    "03a29333b2b35e98a375b6ad7d2f1651835655cd348fb89c864136bce69a964c",
)
MRPC_PAIRS = Download(
    "https://dl.fbaipublicfiles.com/senteval/senteval_data/msr_paraphrase_train.txt",
    "sha256",
    "60a9b09084528f0673eedee2b69cb941920f0b8cd0eeccefc464a98768457f89",
)
MRPC_DEV_IDS = Download(
    "https://dl.fbaipublicfiles.com/glue/data/mrpc_dev_ids.tsv",
    "sha256",
    "971d7767d81b997fd9060ade0ec23c4fc31cbb226a55d1bd4a1bac474eb81dc7",
)
GLUES_DEV_IDS = "dev_ids.tsv"
"""The name of MRPC's dev ids in GLUE's own copy."""
RTE = Download(
    "https://dl.fbaipublicfiles.com/glue/data/RTE.zip",
    "sha256",
    "6bf86de103ecd335f3441bd43574d23fef87ecc695977a63b82d5efb206556ee",
)

DOWNLOADS: Mapping[str, Download] = {
    file.name: file
    for file in (
        *(file for source in SOURCES.values() for file in source.downloads),
        Download(
            "https://wikitext.smerity.com/wikitext-2-raw-v1.zip",
            "sha256",
            "ef7edb566e3e2b2d31b29c1fdb0c89a4cc683597484c3dc2517919c615435a11",
        ),
        Download(
            "https://wikitext.smerity.com/wikitext-103-raw-v1.zip",
            "sha256",
            "91c00ae287f0d699e18605c84afc9e45c192bc6b7797ff8837e5474655a33794",
        ),
        BOOKCORPUS,
        MRPC_PAIRS,
        MRPC_DEV_IDS,
        RTE,
    )
}
"""The files whose content is known, by name."""

DUMPS = "https://dumps.wikimedia.org/enwiki"
"""The address of the dumps of the English Wikipedia, each with a list of checksums beside it."""


def wikipedia_dump(date: str) -> str:
    """The name of a dump's file."""
    return f"enwiki-{date}-pages-articles.xml.bz2"


def is_archive(name: str) -> bool:
    """A file is an archive whose texts are read, by its name."""
    return name.lower().endswith(ARCHIVE_ENDINGS)


def is_text(name: str) -> bool:
    """A file in a folder or an archive is one of text; other systems leave files of their own beside them."""
    path = PurePosixPath(name.lower())
    path = path.with_suffix("") if path.suffix in COMPRESSED else path
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
            return (MRPC_PAIRS.name, MRPC_DEV_IDS.name)
        case RteTask():
            return (RTE.name,)
        case BookcorpusSource():
            return (BOOKCORPUS.name,)
    return tuple(file.name for file in SOURCES[wanted.source].downloads) if isinstance(wanted, CORPORA) else ()


def languages(corpus: Corpus) -> tuple[str, str]:
    """Source and target language of a corpus."""
    if isinstance(corpus, FilesCorpus):
        return corpus.source_language, corpus.target_language
    published = SOURCES[corpus.source].languages
    assert published is not None, f"{corpus.source}: its module in preln.corpora.parallel says no languages"
    return published
