"""Published files: addresses and checksums of downloads; titles, origins and licences of sources."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from preln.config import BookcorpusSource, Corpus, MrpcTask, RteTask, Task, TextSource, WikipediaSource, WikitextSource
from preln.config.corpora import CORPORA
from preln.corpora import parallel
from preln.corpora.published import FILES, Source
from preln.corpora.streams import COMPRESSED
from preln.discovery import defined

TEXT_ENDINGS = (".txt", ".raw", ".tokens")
ARCHIVE_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""The endings of names of English texts, and of archives of them."""
TEXT_FILES = (
    f"{', '.join(TEXT_ENDINGS)}, also compressed ({', '.join(COMPRESSED)}), and archives of them "
    f"({', '.join(ARCHIVE_ENDINGS)})"
)
"""Both, as messages have them."""


SOURCES: Mapping[str, Source] = defined(parallel, "SOURCE")
"""The sources of parallel text by the name that a study gives under `source`."""

BOOKCORPUS = "bookcorpus.tar.bz2"
MRPC_PAIRS = "msr_paraphrase_train.txt"
MRPC_DEV_IDS = "mrpc_dev_ids.tsv"
GLUES_DEV_IDS = "dev_ids.tsv"
"""The name of MRPC's dev ids in GLUE's own copy."""
RTE = "RTE.zip"

DOWNLOADS = {**FILES, **{file.name: file for source in SOURCES.values() for file in source.downloads}}
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
            return (MRPC_PAIRS, MRPC_DEV_IDS)
        case RteTask():
            return (RTE,)
        case BookcorpusSource():
            return (BOOKCORPUS,)
    return tuple(file.name for file in SOURCES[wanted.source].downloads) if isinstance(wanted, CORPORA) else ()
