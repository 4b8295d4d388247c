"""The stages from a corpus to text and BPE pieces, with a record of each."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from preln.config import Corpus
from preln.corpora import CorpusError, bpe, doubts
from preln.corpora.published import git_blob_id
from preln.corpora.registry import SOURCES, languages
from preln.corpora.text import PARTS, Drops, Pair, Part, lines_of, write_lines
from preln.records.files import replaced_folder, sha256, write_json
from preln.records.prepared_stage import require_stage

RECORD = "corpus.json"
LONGEST = 1000
"""Largest number of pieces in a sentence; fairseq's positions end at 1024."""

logger = logging.getLogger(__name__)


def prepare_text(corpus: Corpus, downloads: Path, out: Path, processes: int) -> None:
    """Write `out`/{train,valid,test}.{language}, one tokenised sentence a line, and then `out`/corpus.json.

    The record names the source, its licence and the settings, and counts each part's pairs, and those dropped by
    reason; likely mistakes are under `warnings`. `downloads` is the folder of downloads; `processes` tokenise.

    Raises:
        CorpusError: if the text or the settings cannot become a corpus.
    """
    parts = _parts(corpus, downloads, processes)
    source, target = languages(corpus)
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
                for piece in parts[name]:
                    for side, file in enumerate(sides):
                        file.writelines(f"{pair[side]}\n" for pair in piece.pairs)
                    pairs += len(piece.pairs)
                    drops += piece.drops
                    warnings += piece.warnings
                    if name in held_out:
                        held_out[name].update(piece.pairs)
            checksums = {path.name: _checksums(path, description.published) for path in paths}
            record["parts"][name] = {"pairs": pairs, "drops": asdict(drops), "files": checksums}
            if drops != Drops():
                logger.warning("%s: %s pairs; left out: %s", name, f"{pairs:,}", drops)
        if warnings := [*warnings, *doubts.of_parts(held_out["valid"], held_out["test"])]:
            record["warnings"] = warnings
        for warning in warnings:
            logger.warning("%s", warning)
        write_json(folder / RECORD, record)


def prepare_bpe(text: Path, vocabulary: int, out: Path, threads: int) -> None:
    """Train one BPE model on both sides of train in `text`, a folder that `prepare_text` wrote, and write
    `out`/bpe.model, bpe.vocab, {train,valid,test}.{language} of pieces between spaces, and then bpe.json.

    The record counts pairs, pieces, characters that are unknown because train lacks them, and training pairs that were
    skipped because a side has more than `LONGEST` pieces. `vocabulary` is the largest number of pieces; `threads`
    encode.

    Raises:
        TextDamaged: if the text is damaged.
        CorpusError: if the vocabulary is too small for it, or a sentence in valid or test, which
            may not be skipped, has more than `LONGEST` pieces.
    """
    require_stage(text)
    language_pair: list[str] = [*json.loads((text / RECORD).read_text(encoding="utf-8"))["languages"].values()]
    model = bpe.train([text / f"train.{language}" for language in language_pair], vocabulary)
    scores = bpe.pieces(model)
    known = {piece for piece, _ in scores}
    record: dict[str, Any] = {"vocabulary": vocabulary, "pieces": len(scores), "parts": {}}
    with replaced_folder(out) as folder:
        (folder / "bpe.model").write_bytes(model)
        write_lines(folder / "bpe.vocab", (f"{piece}\t{score:g}" for piece, score in scores))
        for part in PARTS:
            names = [f"{part}.{language}" for language in language_pair]
            encoded = [bpe.encode(model, lines_of(text / name, "encode"), threads) for name in names]
            counts = {"pairs": 0, "pieces": 0, "unknown_characters": 0, "too_many_pieces": 0}
            with _to_write([folder / name for name in names]) as sides:
                for number, pair in enumerate(zip(*encoded, strict=True), start=1):
                    if max(map(len, pair)) > LONGEST:
                        if part != "train":
                            raise CorpusError(
                                f"{text / part}.*: line {number} has {max(map(len, pair))} BPE pieces, and a model "
                                f"reads at most {LONGEST}; shorten it or leave it out of the source"
                            )
                        counts["too_many_pieces"] += 1
                        continue
                    for file, pieces in zip(sides, pair, strict=True):
                        file.write(" ".join(pieces) + "\n")
                        counts["pieces"] += len(pieces)
                        counts["unknown_characters"] += sum(len(piece) for piece in pieces if piece not in known)
                    counts["pairs"] += 1
            record["parts"][part] = counts
            if too_many := counts["too_many_pieces"]:
                logger.warning("%s: left out: %s pairs of more than %d BPE pieces", part, f"{too_many:,}", LONGEST)
        write_json(folder / "bpe.json", record)


@contextmanager
def _to_write(paths: Sequence[Path]) -> Iterator[list[TextIO]]:
    """Open new text files, with Unix line ends."""
    with ExitStack() as stack:
        yield [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in paths]


def _parts(corpus: Corpus, downloads: Path, processes: int) -> Mapping[str, Iterable[Part]]:
    """Train, valid and test, tokenised, each in pieces that fit into memory."""
    parts = SOURCES[corpus.source].prepare(corpus, downloads, processes)
    return {name: [part] if isinstance(part, Part) else part for name, part in parts.items()}


def _checksums(path: Path, published: Mapping[str, str]) -> dict[str, Any]:
    """A file's SHA-256 and, if its git blob id is published, whether it matches."""
    checksums: dict[str, Any] = {"sha256": sha256(path)}
    if path.name in published:
        checksums["as_published"] = git_blob_id(path) == published[path.name]
    return checksums
