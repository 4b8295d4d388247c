"""The user's own parallel text: checked, prepared by the study's settings, and split into train, valid and test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from preln.config import FilesCorpus, TextPaths
from preln.corpora.published import Source
from preln.corpora.split import divide
from preln.corpora.text import Part, read_parallel, screen
from preln.corpora.tokenisation import LinePreparation, prepare_pairs


def prepare(corpus: FilesCorpus, downloads: Path, processes: int) -> dict[str, Part]:
    """Train, valid and test; no pair of train is in valid or test.

    Raises:
        CorpusError: if a file cannot be used or holds too few pairs.
    """
    files = {
        name: paths
        for name, paths in (("train", corpus.train), ("valid", corpus.valid), ("test", corpus.test))
        if paths is not None
    }
    preparations = [_line(corpus, language) for language in (corpus.source_language, corpus.target_language)]
    parts = {name: _prepared(name, paths, preparations, processes) for name, paths in files.items()}
    return divide(parts, corpus.held_out, corpus.seed)


def _line(corpus: FilesCorpus, language: str) -> LinePreparation:
    return LinePreparation(language, corpus.tokenise, corpus.lowercase, whole_words=True)


def _prepared(name: str, paths: TextPaths, preparations: list[LinePreparation], processes: int) -> Part:
    part = read_parallel(paths.source, paths.target)
    pairs = prepare_pairs(part.pairs, preparations, processes, f"prepare {name}")
    torn = [
        f"{name}: {warning}"
        for side, preparation in enumerate(preparations)
        for warning in preparation.torn_words([pair[side] for pair in part.pairs])
    ]
    return screen(replace(part, pairs=pairs, warnings=(*part.warnings, *torn)))


SOURCE = Source(
    name="files",
    title="the user's own parallel text",
    origin="the files that the study names",
    licence="as the owner of the files says",
    languages=None,
    prepare=prepare,
    line=_line,
)
