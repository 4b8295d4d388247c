"""From documents to train and valid: sentences, normalised, tokenised and lower-cased, divided by document (A.2).

The text streams: at any time a few documents for each process are in memory, and the numbers of those held out.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import joblib
from tqdm import tqdm

from preln.config import EnglishText, TextFilesSource, TextSource
from preln.corpora import CorpusError, bpe
from preln.corpora.english.sentences import normalised, split
from preln.corpora.english.sources import Document, documents_of, paragraphs_of
from preln.corpora.text import require_unchanged, unusable, write_lines
from preln.records.files import replaced_folder, require_stage, sha256, write_json

TRAIN_TO_VALID = 199
"""Documents of train for each of valid (appendix A.2)."""

PARTS = ("train", "valid")

logger = logging.getLogger(__name__)

SourcedDocument = tuple[TextSource, Document]
"""A document as its source has it, with the source."""
PreparedDocument = tuple[list[str], int]
"""The prepared sentences of a document, and how many were left out because no later stage could use them."""


def prepare_text(text: EnglishText, downloads: Path, out: Path, processes: int) -> None:
    """Write `out`/train.txt and valid.txt of a text's sources, one after the other, and text.json, which says what they
    hold. `downloads` is the folder of what the sources download; documents are prepared by `processes` in parallel.

    Raises:
        CorpusError: if a source cannot be read or has changed since the study was read, or there is too little text.
    """
    documents = ((source, document) for source in text.sources for document in documents_of(source, downloads))
    with replaced_folder(out) as folder:
        counts = prepare(documents, text.seed, folder, processes)
        for source in text.sources:
            if isinstance(source, TextFilesSource):
                require_unchanged(source.path, source.sha256)
        checksums = {f"{part}.txt": sha256(folder / f"{part}.txt") for part in PARTS}
        write_json(
            folder / "text.json", {"settings": text.model_dump(mode="json"), "parts": counts, "sha256": checksums}
        )


def prepare(documents: Iterable[SourcedDocument], seed: int, folder: Path, processes: int) -> dict[str, dict[str, int]]:
    """Write `folder`/train.txt and valid.txt: a sentence a line, a blank line between documents. The documents, each
    with its source, are read once; those of valid are chosen by the seed, and their copies are left out of train.

    Returns:
        What each part holds, where words are tokens, and under `dropped` what was left out.

    Raises:
        CorpusError: if there are fewer than two documents, or all are alike.
    """
    everything = folder / "documents.txt"
    empty = dropped = total = 0
    with everything.open("w", encoding="utf-8", newline="\n") as file:
        for sentences, unused in _stream(documents, processes):
            dropped += unused
            if sentences:
                file.writelines(f"{sentence}\n" for sentence in sentences)
                file.write("\n")
                total += 1
            else:
                empty += 1
    if total < 2:
        raise CorpusError(f"{total} documents with text: train and valid need one each; give more documents")
    valid = held_out(total, seed)
    in_valid = {_digest(lines) for number, lines in enumerate(_documents(everything)) if number in valid}
    copies = 0
    counts = {part: {"documents": 0, "sentences": 0, "words": 0} for part in PARTS}
    with open(folder / "train.txt", "wb") as train, open(folder / "valid.txt", "wb") as held:
        for number, lines in enumerate(tqdm(_documents(everything), total=total, desc="divide", delay=2)):
            part, file_of_part = ("valid", held) if number in valid else ("train", train)
            if part == "train" and _digest(lines) in in_valid:
                copies += 1
                continue
            if counts[part]["documents"]:
                file_of_part.write(b"\n")
            file_of_part.writelines(lines)
            counts[part]["documents"] += 1
            counts[part]["sentences"] += len(lines)
            counts[part]["words"] += sum(len(line.split()) for line in lines)
    everything.unlink()
    if not counts["train"]["documents"]:
        raise CorpusError("every document of train is also one of valid: give documents that differ")
    if empty or dropped or copies:
        logger.warning(
            "left out: %s documents without text, %s documents of train that valid has too, %s sentences too long or "
            "with characters that no model reads",
            *(f"{number:,}" for number in (empty, copies, dropped)),
        )
    return counts | {"dropped": {"empty_documents": empty, "copies": copies, "sentences": dropped}}


def _digest(lines: Iterable[bytes]) -> bytes:
    return hashlib.sha256(b"".join(lines)).digest()


def held_out(total: int, seed: int) -> set[int]:
    """The numbers of the documents of valid: one of each 200, and at least one."""
    return set(Random(seed).sample(range(total), max(1, round(total / (TRAIN_TO_VALID + 1)))))


def prepared(source: TextSource, document: Document) -> PreparedDocument:
    """A document's sentences, split by spaCy, normalised and tokenised as Moses does, and lower-cased."""
    sentences: list[str] = []
    dropped = 0
    for paragraph in paragraphs_of(source, document):
        for sentence in split(paragraph):
            if unusable(sentence):
                dropped += 1
            else:
                sentences.append(normalised(sentence))
    return sentences, dropped


def _stream(documents: Iterable[SourcedDocument], processes: int) -> Iterator[PreparedDocument]:
    """The prepared documents in their order; a bounded number of them is under way."""
    counted = tqdm(documents, desc="prepare", unit=" documents", delay=2, mininterval=5)
    if processes == 1:
        return (prepared(*sourced) for sourced in counted)
    parallel = joblib.Parallel(processes, return_as="generator", pre_dispatch="4 * n_jobs", batch_size=8)
    documents_in_order: Iterator[PreparedDocument] = parallel(joblib.delayed(prepared)(*sourced) for sourced in counted)
    return documents_in_order


def _documents(path: Path) -> Iterator[list[bytes]]:
    """The documents of a file in which blank lines end them, as lines."""
    with path.open("rb") as file:
        for is_blank, lines in itertools.groupby(file, key=lambda line: line == b"\n"):
            if not is_blank:
                yield list(lines)


def prepare_pieces(text: Path, vocabulary: int, out: Path, threads: int) -> None:
    """Train a BPE model on train.txt of `text`, a folder that `prepare_text` wrote, and write `out`/bpe.model,
    bpe.vocab, {train,valid}.txt of pieces between spaces, and bpe.json with their numbers.

    Raises:
        Damaged: if the text is not as it was prepared.
        CorpusError: if the vocabulary is too small for the text.
    """
    require_stage(text)
    model = bpe.train([text / "train.txt"], vocabulary, bpe.COVERAGE)
    scores = bpe.pieces(model)
    with replaced_folder(out) as folder:
        (folder / "bpe.model").write_bytes(model)
        write_lines(folder / "bpe.vocab", (f"{piece}\t{score:g}" for piece, score in scores))
        counts = {part: bpe.encode_file(model, text / f"{part}.txt", folder / f"{part}.txt", threads) for part in PARTS}
        write_json(folder / "bpe.json", {"vocabulary": vocabulary, "pieces": len(scores), "parts": counts})
