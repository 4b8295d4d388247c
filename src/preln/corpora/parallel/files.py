"""The user's own parallel text: checked, prepared by the study's settings, and split into train, valid and test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from preln.config import FilesCorpus, TextPaths
from preln.corpora import doubts, near
from preln.corpora.published import Source
from preln.corpora.split import divide
from preln.corpora.text import Part, read_parallel, require_unchanged, screen
from preln.corpora.tokenisation import LinePreparation, prepare_pairs
from preln.corpora.typography import torn_words


def prepare(corpus: FilesCorpus, downloads: Path, processes: int) -> dict[str, Part]:
    """Train, valid and test; no pair of train is in valid or test.

    Raises:
        CorpusError: if a file cannot be used, has changed since the study was read, or holds too few pairs.
    """
    files = {
        name: paths
        for name, paths in (("train", corpus.train), ("valid", corpus.valid), ("test", corpus.test))
        if paths is not None
    }
    parts = {name: _prepared(name, paths, corpus, processes) for name, paths in files.items()}
    for paths in files.values():
        for path, checksum in zip(paths.files, paths.sha256 or (), strict=False):
            require_unchanged(path, checksum)
    divided = divide(parts, corpus.held_out, corpus.seed)
    read = parts["train"].warnings
    train = divided["train"].pairs
    of_split = [*divided["train"].warnings[len(read) :], doubts.of_swap(train, train)]
    told = (f"{_named(corpus.train)}: {warning}" for warning in of_split if warning)
    divided["train"] = replace(divided["train"], warnings=(*read, *told))
    leaks = near.of_leak(train, {name: divided[name].pairs for name in ("valid", "test")})
    for name in ("valid", "test"):
        where, checks = f"{_named(corpus.train)} ({name} is held out of it)", [leaks.get(name)]
        if name in files:
            where, checks = _named(files[name]), [doubts.of_swap(train, divided[name].pairs), leaks.get(name)]
        warnings = (f"{where}: {doubt}" for doubt in checks if doubt)
        divided[name] = replace(divided[name], warnings=(*divided[name].warnings, *warnings))
    return divided


def _named(paths: TextPaths) -> str:
    return f"{paths.source}, {paths.target}"


def _line(corpus: FilesCorpus, language: str) -> LinePreparation:
    return LinePreparation(language, corpus.tokenise, corpus.lowercase, whole_words=True)


def _prepared(name: str, paths: TextPaths, corpus: FilesCorpus, processes: int) -> Part:
    preparations = [_line(corpus, language) for language in corpus.languages]
    part = read_parallel(paths.source, paths.target)
    sides = [[pair[side] for pair in part.pairs] for side in (0, 1)]
    warnings = [
        f"{path}: {doubt}"
        for path, lines, preparation in zip(paths.files, sides, preparations, strict=True)
        for doubt in (*doubts.of_side(lines, corpus.tokenise), *doubts.of_words(lines, preparation.language))
    ]
    pairs = prepare_pairs(part.pairs, preparations, processes, f"prepare {name}")
    torn = [
        f"{path}: {warning}"
        for path, lines, preparation in zip(paths.files, sides, preparations, strict=True)
        for warning in torn_words(preparation, lines)
    ]
    return screen(replace(part, pairs=pairs, warnings=(*part.warnings, *warnings, *torn)))


SOURCE = Source(
    name="files",
    title="the user's own parallel text",
    origin="the files that the study names",
    licence="as the owner of the files says",
    prepare=prepare,
    line=_line,
)
