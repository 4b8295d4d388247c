"""The stages from a corpus to text and BPE pieces, with a record of each."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from preln.config import Corpus, FilesCorpus, TextPaths
from preln.corpora import CorpusError, bpe, doubts
from preln.corpora.published import checksum
from preln.corpora.registry import SOURCES
from preln.corpora.text import MOST_PIECES, PARTS, REASONS, Drops, Pair, Part, in_words, lines_of, write_lines
from preln.records.files import replaced_folder, require_stage, sha256, write_json

RECORD = "corpus.json"
MOST_UNKNOWN = 0.01
"""Largest share of a side's characters that train may lack without a warning."""
FEWEST_PAIRS = 8
"""Smallest number of pairs of a part: fairseq's batches have a multiple of eight, and of fewer it makes none."""

logger = logging.getLogger(__name__)


def prepare_text(corpus: Corpus, downloads: Path, out: Path, processes: int) -> None:
    """Write `out`/{train,valid,test}.{language}, one tokenised sentence a line, and then `out`/corpus.json.

    The record names the source, its licence and the settings, and counts each part's pairs, and those dropped by
    reason; likely mistakes are under `warnings`. `downloads` is the folder of downloads; `processes` tokenise.

    Raises:
        CorpusError: if the text or the settings cannot become a corpus.
    """
    parts = SOURCES[corpus.source].prepare(corpus, downloads, processes)
    source, target = corpus.languages
    description = SOURCES[corpus.source]
    record: dict[str, Any] = {
        "source": corpus.source,
        "title": description.title,
        "origin": description.origin,
        "licence": description.licence,
        "languages": {"source": source, "target": target},
        "settings": corpus.model_dump(mode="json"),
        "parts": {},
    }
    warnings: list[str] = []
    held_out: dict[str, set[Pair]] = {"valid": set(), "test": set()}
    with replaced_folder(out) as folder:
        for name in PARTS:
            paths = [folder / f"{name}.{language}" for language in (source, target)]
            pairs, drops = 0, Drops()
            with _to_write(paths) as sides:
                part = parts[name]
                for piece in [part] if isinstance(part, Part) else part:
                    for side, file in enumerate(sides):
                        file.writelines(f"{pair[side]}\n" for pair in piece.pairs)
                    pairs += len(piece.pairs)
                    drops += piece.drops
                    warnings += piece.warnings
                    if name in held_out:
                        held_out[name].update(piece.pairs)
            checksums = {path.name: _checksums(path, description.published) for path in paths}
            record["parts"][name] = {"pairs": pairs, "drops": dict.fromkeys(REASONS, 0) | drops, "files": checksums}
            if drops:
                logger.warning("%s: %s pairs; left out: %s", name, f"{pairs:,}", in_words(drops))
        if warnings := [*warnings, *doubts.of_parts(held_out["valid"], held_out["test"])]:
            record["warnings"] = warnings
        for warning in warnings:
            logger.warning("%s", warning)
        write_json(folder / RECORD, record)


def prepare_bpe(text: Path, vocabulary: int, out: Path, threads: int) -> None:
    """Train one BPE model on both sides of train in `text`, a folder that `prepare_text` wrote, and write
    `out`/bpe.model, bpe.vocab, {train,valid,test}.{language} of pieces between spaces, and then bpe.json.

    The record counts pairs, pieces, characters that are unknown because train lacks them, and training pairs that were
    skipped because a side has more than `MOST_PIECES` pieces; sides with many unknown characters are under `warnings`.
    `vocabulary` is the largest number of pieces; `threads` encode.

    Raises:
        Damaged: if the text is damaged.
        CorpusError: if the vocabulary is too small, or a sentence in valid or test, which may not be skipped, has more
            than `MOST_PIECES` pieces, or a part is smaller than a batch.
    """
    require_stage(text)
    prepared = json.loads((text / RECORD).read_text(encoding="utf-8"))
    language_pair = [*prepared["languages"].values()]
    own = FilesCorpus.model_validate(prepared["settings"]) if prepared["source"] == "files" else None
    model = bpe.train([text / f"train.{language}" for language in language_pair], vocabulary)
    scores = bpe.pieces(model)
    known = {piece for piece, _ in scores}
    record: dict[str, Any] = {"vocabulary": vocabulary, "pieces": len(scores), "parts": {}}
    warnings: list[str] = []
    with replaced_folder(out) as folder:
        (folder / "bpe.model").write_bytes(model)
        write_lines(folder / "bpe.vocab", (f"{piece}\t{score:g}" for piece, score in scores))
        for part in PARTS:
            names = [f"{part}.{language}" for language in language_pair]
            encoded = [bpe.encode(model, lines_of(text / name, "encode"), threads) for name in names]
            counts = {"pairs": 0, "pieces": 0, "unknown_characters": 0, "too_many_pieces": 0}
            characters, unknown = [0, 0], [0, 0]
            with _to_write([folder / name for name in names]) as sides:
                for number, pair in enumerate(zip(*encoded, strict=True), start=1):
                    if max(map(len, pair)) > MOST_PIECES:
                        if part != "train":
                            raise CorpusError(
                                f"{_origin(own, text, part, number)} has {max(map(len, pair))} BPE pieces, and a model "
                                f"reads at most {MOST_PIECES}; shorten it or leave it out"
                            )
                        counts["too_many_pieces"] += 1
                        continue
                    for side, pieces in enumerate(pair):
                        sides[side].write(" ".join(pieces) + "\n")
                        counts["pieces"] += len(pieces)
                        characters[side] += sum(map(len, pieces))
                        unknown[side] += sum(len(piece) for piece in pieces if piece not in known)
                    counts["pairs"] += 1
            if counts["pairs"] < FEWEST_PAIRS:
                advice = "give more text" if getattr(own, part, own) else "raise held_out"
                raise CorpusError(
                    f"{_file(own, part, 0) or text / names[0]}: {part} has {counts['pairs']} pairs that a model reads, "
                    f"and a batch has at least {FEWEST_PAIRS}; {advice}"
                )
            counts["unknown_characters"] = sum(unknown)
            record["parts"][part] = counts
            warnings += [
                f"{_file(own, part, side) or text / names[side]}: {unknown[side]:,} of {characters[side]:,} characters "
                "are not in train, and unknown to every model"
                for side in (0, 1)
                if unknown[side] > MOST_UNKNOWN * characters[side]
            ]
            if too_many := counts["too_many_pieces"]:
                logger.warning("%s: left out: %s pairs of more than %d BPE pieces", part, f"{too_many:,}", MOST_PIECES)
        for warning in warnings:
            logger.warning("%s", warning)
        write_json(folder / "bpe.json", record | ({"warnings": warnings} if warnings else {}))


def _file(corpus: FilesCorpus | None, part: str, side: int) -> str | None:
    """The user's own file of a side of a part, for messages; None if the corpus is not of such files."""
    if corpus is None:
        return None
    paths: TextPaths | None = getattr(corpus, part)
    return str(paths.files[side]) if paths else f"{corpus.train.files[side]} ({part} is held out of it)"


def _origin(corpus: FilesCorpus | None, text: Path, part: str, number: int) -> str:
    """The place of a line of a prepared part, for messages: in the user's own files if the corpus is of them."""
    if corpus is None:
        return f"{text / part}.*: line {number}"
    paths: TextPaths = getattr(corpus, part) or corpus.train
    preparations = [SOURCES[corpus.source].line(corpus, language) for language in corpus.languages]
    wanted = tuple(next(islice(lines_of(text / f"{part}.{each.language}"), number - 1, None)) for each in preparations)
    for line, pair in enumerate(zip(lines_of(paths.source), lines_of(paths.target), strict=True), start=1):
        if wanted == tuple(prepare(side) for prepare, side in zip(preparations, pair, strict=True)):
            return f"{paths.source}, {paths.target}: line {line}"
    raise CorpusError(f"{paths.source}, {paths.target}: not as they were when they were prepared; prepare them again")


@contextmanager
def _to_write(paths: Sequence[Path]) -> Iterator[list[TextIO]]:
    with ExitStack() as stack:
        yield [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in paths]


def _checksums(path: Path, published: Mapping[str, str]) -> dict[str, Any]:
    """A file's SHA-256 and, if its git blob id is published, whether it matches."""
    checksums: dict[str, Any] = {"sha256": sha256(path)}
    if path.name in published:
        checksums["as_published"] = checksum(path, "git-blob") == published[path.name]
    return checksums
