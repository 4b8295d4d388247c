"""What can be known of the files and folders of this machine that a study names, without a job that reads them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from preln.config import (
    BookcorpusSource,
    Corpus,
    FilesCorpus,
    Iwslt14Corpus,
    MrpcTask,
    RteTask,
    Study,
    Task,
    TextFilesSource,
    TextSource,
    WikipediaSource,
    WikitextSource,
)
from preln.config.base import Settings, listed
from preln.corpora.parallel import iwslt14
from preln.corpora.registry import (
    ARCHIVE_ENDINGS,
    GLUES_DEV_IDS,
    MRPC_DEV_IDS,
    MRPC_PAIRS,
    RTE,
    SOURCES,
    TEXT_FILES,
    is_text,
)
from preln.corpora.subsets import SIZES

MOST_FILES = 100_000
"""Of a folder that a study names: each of them is an input of the job that reads it."""

LOOKED_AT = 64 * 2**20
"""Bytes of a text that are read to see that it has lines enough; a longer one is taken to have them."""

_IN_BRACES = re.compile(r"\{.*\}")

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

_FOLDERS: dict[type[Settings], tuple[tuple[tuple[str, ...], ...], ...]] = {
    MrpcTask: (((MRPC_PAIRS.name,), (MRPC_DEV_IDS.name, GLUES_DEV_IDS)),),
    RteTask: (((RTE.name,),), (("train.tsv",), ("dev.tsv",))),
}
"""The files that a local folder of a task holds: one of several sets, each file of a set by any of its names."""


def mistakes(study: Study) -> Iterator[str]:
    """What is wrong with the files and folders that the study names, a line each, which begins with the key.

    A file is there, a regular one, readable and not empty; none is given twice in a corpus; a folder holds what is read
    from it; and there are more pairs than are held out.
    """
    for name, corpus in study.corpora.items():
        yield from _of_corpus(f"corpora.{name}", corpus)
    for name, text in study.texts.items():
        for number, source in enumerate(text.sources):
            yield from _of_source(f"texts.{name}.sources.{number}", source)
    for name, task in study.tasks.items():
        yield from _of_task(f"tasks.{name}", task)


def _of_corpus(where: str, corpus: Corpus) -> Iterator[str]:
    if isinstance(corpus, FilesCorpus):
        yield from _of_files(where, corpus)
    yield from _of_folder(f"{where}.folder", getattr(corpus, "folder", None), SOURCES[corpus.source].local)
    if isinstance(corpus, Iwslt14Corpus):
        yield from _of_iwslt14(where, corpus)


def _of_source(where: str, source: TextSource) -> Iterator[str]:
    match source:
        case WikitextSource() | BookcorpusSource() if source.folder:
            yield from _of_texts(f"{where}.folder", source.folder)
        case WikipediaSource(file=Path() as file):
            yield from _of_file(f"{where}.file", file)
        case TextFilesSource():
            yield from _of_texts(f"{where}.path", source.path)


def _of_task(where: str, task: Task) -> Iterator[str]:
    if isinstance(task, MrpcTask | RteTask):
        yield from _of_folder(f"{where}.folder", task.folder, _FOLDERS[type(task)])


def _of_files(where: str, corpus: FilesCorpus) -> Iterator[str]:
    """What is wrong with parallel text of the user's own."""
    found: dict[tuple[int, int], str] = {}
    usable = True
    for key, path in corpus.local_paths.items():
        wrong = list(_of_file(f"{where}.{key}", path))
        yield from wrong
        usable = usable and not wrong
        if not wrong:
            about = path.stat()
            other = found.setdefault((about.st_dev, about.st_ino), key)
            if other != key:
                yield f"{where}.{key}: {path} is the same file as {other}; give each its own file"
    parts = sum(part is None for part in (corpus.valid, corpus.test))
    wanted = parts * corpus.held_out
    lines = _few_lines(corpus.train.source, wanted) if usable and wanted else None
    if lines is not None:
        yield (
            f"{where}.held_out: {wanted:,} pairs are to be held out of train, which has {lines:,} lines "
            f"({corpus.train.source}); give more text, or lower it below {lines / parts:g}"
        )


def _of_iwslt14(where: str, corpus: Iwslt14Corpus) -> Iterator[str]:
    """Whether there are the pairs that are asked for."""
    if corpus.pairs is None:
        return
    prepared = corpus.folder / "train.de" if corpus.folder and not (corpus.folder / "de-en.tgz").exists() else None
    there: int | None = SIZES[corpus.subset] if corpus.subset else iwslt14.PAIRS
    if prepared is not None and not corpus.subset:
        there = _few_lines(prepared, corpus.pairs - 1) if prepared.is_file() else None
    if there is not None and corpus.pairs > there:
        yield f"{where}.pairs: {corpus.pairs:,} of {there:,} pairs of train; leave it out to train on all"


def _of_file(key: str, path: Path) -> Iterator[str]:
    """What is wrong with a file that is to be read."""
    about = _status(path)
    if isinstance(about, str):
        yield f"{key}: {path}{about}"
    elif not stat.S_ISREG(about.st_mode):
        yield f"{key}: {path} is {_KINDS.get(stat.S_IFMT(about.st_mode), 'special')}; give a regular file"
    elif not os.access(path, os.R_OK):
        yield f"{key}: {path} cannot be read (Permission denied)"
    elif not about.st_size:
        yield f"{key}: {path} is empty"
    elif _IN_BRACES.search(str(path)):
        yield f"{key}: {path}: {_BRACES}"


_BRACES = "{...} in a path is a wildcard of Snakemake; rename it without braces"


def _of_folder(key: str, path: Path | None, sets: tuple[tuple[tuple[str, ...], ...], ...]) -> Iterator[str]:
    """What is wrong with a folder of published files; nothing where there is none."""
    if path is None:
        return
    about = _status(path)
    if isinstance(about, str):
        yield f"{key}: {path}{about}"
        return
    if not stat.S_ISDIR(about.st_mode):
        yield f"{key}: {path} is no folder; give the folder in which the files are"
        return
    files = [[_any_of(path, names) for names in one] for one in sets]
    # The set of which something is there is meant; where nothing is, the message has them all.
    meant = next((one for one in files if any(os.path.exists(file) for file in one)), None)
    if meant is None:
        yield f"{key}: {path} lacks " + "; or ".join(", ".join(" or ".join(names) for names in one) for one in sets)
        return
    for file in meant:
        yield from _of_file(key, file)
    yield from _of_all_files(key, path)


def _any_of(folder: Path, names: tuple[str, ...]) -> Path:
    """The file that is there by one of the names, or the first name's."""
    return next((folder / name for name in names if os.path.exists(folder / name)), folder / names[0])


def _of_texts(key: str, path: Path) -> Iterator[str]:
    """What is wrong with a file of text, an archive, or a folder of both."""
    about = _status(path)
    if isinstance(about, str) or not stat.S_ISDIR(about.st_mode):
        yield from _of_file(key, path)
        return
    wrong = list(_of_all_files(key, path))
    below = (Path(inside) / name for inside, names, _ in os.walk(path) for name in names)
    if not wrong and (linked := [folder for folder in below if folder.is_symlink()]):
        advice = "give it as a source of its own, or copy it"
        wrong.append(f"{key}: {listed(linked, 3)}: a linked folder is not read; {advice}")
    yield from wrong
    if not wrong and not any(_is_read(file) for file in _files(path)):
        yield f"{key}: {path} holds no text; allowed: {TEXT_FILES}"


def _of_all_files(key: str, folder: Path) -> Iterator[str]:
    """What is wrong with the files of a folder, all of which are inputs of the job that reads it."""
    braces = []
    for number, file in enumerate(_files(folder)):
        if number == MOST_FILES:
            yield f"{key}: {folder} holds more than {MOST_FILES:,} files; give the folder of the text alone"
            return
        if _IN_BRACES.search(str(file)):
            braces.append(file)
    if braces:
        yield f"{key}: {listed(braces, 3)}: {_BRACES}"


def _files(folder: Path) -> Iterator[Path]:
    """All that is in a folder and in those within, but for folders themselves."""
    for inside, _, names in os.walk(folder):
        yield from (Path(inside) / name for name in names)


def _is_read(file: Path) -> bool:
    """Whether a file of a folder is taken for text or an archive."""
    return file.name.endswith(ARCHIVE_ENDINGS) or is_text(file.name)


def _status(path: Path) -> os.stat_result | str:
    """What the system knows of a path, or why that cannot be had."""
    try:
        return path.stat()
    except FileNotFoundError:
        return " does not exist"
    except OSError as error:
        return f": {error.strerror}"
    except ValueError as error:
        return f": {error}"


def _few_lines(path: Path, most: int) -> int | None:
    """The number of lines of a text, if it has at most so many; None where it has more, or too much to count."""
    lines, left, last = 0, LOOKED_AT, b"\n"
    with path.open("rb") as file:
        while block := file.read(min(left, 2**20)):
            lines += block.count(b"\n")
            left -= len(block)
            last = block
            if lines > most:
                return None
        if not left and file.read(1):
            return None
    lines += not last.endswith(b"\n")
    return lines if lines <= most else None
