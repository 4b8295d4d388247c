"""Checks of the files and folders that a study names, before any job reads them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from preln.config import (
    BookcorpusSource,
    FilesCorpus,
    MrpcTask,
    Origin,
    RteTask,
    Study,
    TextFilesSource,
    TextSource,
    WikipediaSource,
    WikitextSource,
)
from preln.config.base import Settings, content_of, listed
from preln.corpora.registry import (
    GLUES_DEV_IDS,
    MRPC_DEV_IDS,
    MRPC_PAIRS,
    RTE,
    SOURCES,
    TEXT_FILES,
    is_archive,
    is_text,
)
from preln.corpora.streams import MOST_IN_MEMORY
from preln.corpora.tables import is_table

MOST_FILES = 100_000
"""Largest number of files in a folder that a study names, as each is an input of the job that reads it."""

_IN_BRACES = re.compile(r"\{.*\}")

_FOLDERS: dict[type[Settings], tuple[tuple[tuple[str, ...], ...], ...]] = {
    MrpcTask: (((MRPC_PAIRS,), (MRPC_DEV_IDS, GLUES_DEV_IDS)),),
    RteTask: (((RTE,),), (("train.tsv",), ("dev.tsv",))),
}
"""The files in a task's local folder: one of several sets, each file by any of its names."""


def mistakes(study: Study, origin: Origin) -> Iterator[str]:
    """A line for each mistake in the files and folders that the study from `origin` names, beginning with the key.

    Files must exist, be regular, readable and not empty, and be given once in a corpus; folders must have the files
    that are read from them; and there must be more pairs than are held out.
    """
    recorded = Path("results") / study.study / "study.yaml"
    is_other = recorded.exists() and not (isinstance(origin, Path) and origin.exists() and recorded.samefile(origin))
    advice = f"; recorded results stay without it: preln run {recorded.parent}" if is_other else ""
    for name, corpus in study.corpora.items():
        where = f"corpora.{name}"
        if isinstance(corpus, FilesCorpus):
            yield from _of_files(where, corpus, advice)
        yield from _of_folder(f"{where}.folder", getattr(corpus, "folder", None), SOURCES[corpus.source].local)
    for name, text in study.texts.items():
        for number, source in enumerate(text.sources):
            yield from _of_source(f"texts.{name}.sources.{number}", source, advice)
    for name, task in study.tasks.items():
        if isinstance(task, MrpcTask | RteTask):
            yield from _of_folder(f"tasks.{name}.folder", task.folder, _FOLDERS[type(task)])


def _of_source(where: str, source: TextSource, advice: str) -> Iterator[str]:
    match source:
        case WikitextSource() | BookcorpusSource() if source.folder:
            yield from _of_texts(f"{where}.folder", source.folder)
        case WikipediaSource(file=Path() as file):
            yield from _of_file(f"{where}.file", file)
        case TextFilesSource(path=path, sha256=checksum):
            yield from _of_recorded(_of_texts, f"{where}.path", path, checksum, advice)


def _of_files(where: str, corpus: FilesCorpus, advice: str) -> Iterator[str]:
    """Mistakes in the user's own parallel text; where a file is missing, with the advice."""
    keys: dict[tuple[int, int], str] = {}
    usable = True
    for key, path in corpus.local_paths.items():
        part, side = key.split(".")
        checksums = getattr(corpus, part).sha256 or (None, None)
        wrong = list(_of_recorded(_of_file, f"{where}.{key}", path, checksums[side == "target"], advice))
        yield from wrong
        is_usable = not wrong and os.path.exists(path)
        usable = usable and is_usable
        if is_usable:
            status = path.stat()
            first_key = keys.setdefault((status.st_dev, status.st_ino), key)
            if first_key != key:
                yield f"{where}.{key}: {path} is the same file as {first_key}; give each its own file"
    parts = sum(part is None for part in (corpus.valid, corpus.test))
    wanted = parts * corpus.held_out
    lines = _few_lines(corpus.train.source, wanted) if usable and wanted else None
    if lines is not None:
        yield (
            f"{where}.held_out: {wanted:,} pairs are to be held out of train, which has {lines:,} lines "
            f"({corpus.train.source}); give more text, or lower it below {lines / parts:g}"
        )


def _of_recorded(
    mistakes_in: Callable[[str, Path], Iterator[str]], key: str, path: Path, checksum: str | None, advice: str
) -> Iterator[str]:
    """Mistakes in a text of the user's. Where it is missing, they end with the advice; one with a recorded checksum may
    be missing, but no other text."""
    if os.path.exists(path):
        wrong = list(mistakes_in(key, path))
        yield from wrong
        if not wrong and checksum and checksum != content_of(path):
            yield f"{key}: {path} is not the text of these results; remove sha256, and rename the study"
    elif not checksum:
        yield from (f"{line}{advice}" for line in mistakes_in(key, path))


def _of_file(key: str, path: Path) -> Iterator[str]:
    status = _status(path)
    if isinstance(status, str):
        yield f"{key}: {path}{status}"
    elif not stat.S_ISREG(status.st_mode):
        yield f"{key}: {path} is no regular file; give a file of text"
    elif not os.access(path, os.R_OK):
        yield f"{key}: {path} cannot be read (Permission denied)"
    elif not status.st_size:
        yield f"{key}: {path} is empty"
    elif _IN_BRACES.search(str(path)):
        yield f"{key}: {path}: {_BRACES}"
    elif str(path).encode(errors="ignore").decode() != str(path):
        yield f"{key}: {str(path)!r} is no path in UTF-8, in which records are written; rename it"


_BRACES = "{...} in a path is a wildcard of Snakemake; rename it without braces"


def _of_folder(key: str, path: Path | None, sets: tuple[tuple[tuple[str, ...], ...], ...]) -> Iterator[str]:
    """Mistakes in a folder of published files, if one is given."""
    if path is None:
        return
    status = _status(path)
    if isinstance(status, str):
        yield f"{key}: {path}{status}"
        return
    if not stat.S_ISDIR(status.st_mode):
        yield f"{key}: {path} is no folder; give the folder in which the files are"
        return
    candidates = [[_any_of(path, names) for names in file_set] for file_set in sets]
    # The first set with an existing file is the intended one.
    intended = next((files for files in candidates if any(os.path.exists(file) for file in files)), None)
    if intended is None:
        alternatives = (", ".join(" or ".join(names) for names in file_set) for file_set in sets)
        yield f"{key}: {path} lacks {'; or '.join(alternatives)}"
        return
    for file in intended:
        yield from _of_file(key, file)
    yield from _of_all_files(key, path)


def _any_of(folder: Path, names: tuple[str, ...]) -> Path:
    """The first existing file among the names, or the first name."""
    return next((folder / name for name in names if os.path.exists(folder / name)), folder / names[0])


def _of_texts(key: str, path: Path) -> Iterator[str]:
    """Mistakes in a text file, an archive, or a folder of both."""
    status = _status(path)
    if isinstance(status, str) or not stat.S_ISDIR(status.st_mode):
        wrong = list(_of_file(key, path))
        if not wrong and is_table(path):
            wrong.append(f"{key}: {path} is a table, whose marks would be read as text; give its text alone as .txt")
        yield from wrong
        return
    wrong = list(_of_all_files(key, path))
    below = (Path(inside) / name for inside, names, _ in os.walk(path) for name in names)
    if not wrong and (linked := [folder for folder in below if folder.is_symlink()]):
        advice = "give it as a source of its own, or copy it"
        wrong.append(f"{key}: {listed(linked, 3)}: a linked folder is not read; {advice}")
    yield from wrong
    if not wrong and not any(is_archive(file.name) or is_text(file.name) for file in _files(path)):
        yield f"{key}: {path} holds no text; allowed: {TEXT_FILES}"


def _of_all_files(key: str, folder: Path) -> Iterator[str]:
    """Mistakes in the files of a folder, all of which are inputs of the job that reads it."""
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
    for inside, _, names in os.walk(folder):
        yield from (Path(inside) / name for name in names)


def _status(path: Path) -> os.stat_result | str:
    """A path's status, or the end of an error message."""
    try:
        return path.stat()
    except FileNotFoundError:
        return " does not exist"
    except OSError as error:
        return f": {error.strerror}"
    except ValueError as error:
        return f": {error}"


def _few_lines(path: Path, most: int) -> int | None:
    """The number of lines of a text; None if it has more than `most`."""
    with path.open("rb") as file:
        # A line that does not fit into memory counts as several.
        lines = sum(1 for _ in islice(iter(partial(file.readline, MOST_IN_MEMORY), b""), most + 1))
    return lines if lines <= most else None
