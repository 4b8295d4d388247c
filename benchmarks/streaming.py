"""Peak memory of each stage of preparing a pre-training text, by the text's size.

    python benchmarks/streaming.py

The text is the embedded documents, repeated to three sizes, each four times the one before. A stage runs in a process
of its own, whose peak of resident memory is the kernel's count; of a stage that starts others it is the largest one's.
The BPE model is trained on at most 50,000 sentences here, in place of 5,000,000, so that each size is beyond what it
takes.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from preln.config import EnglishText, TextFilesSource
from preln.corpora import bpe, data
from preln.corpora.english.prepare import prepare_text
from preln.fairseq_plugin.binarise import binarise_english

DOCUMENTS = (5_000, 20_000, 80_000)
VOCABULARY = 1000
MOST_SENTENCES = 50_000


def prepare(folder: Path, documents: int) -> None:
    """Make the sentences of train and valid."""
    embedded = data.documents()
    with (folder / "documents.txt").open("w", encoding="utf-8") as file:
        for number in range(documents):
            file.write("\n".join(embedded[number % len(embedded)]) + "\n\n")
    source = TextFilesSource(source="files", path=folder / "documents.txt", documents="blank-line")
    prepare_text(EnglishText(sources=(source,), vocabulary=VOCABULARY), folder, folder / "text", processes=1)


def train_bpe(folder: Path, documents: int) -> None:
    """Train the BPE model."""
    model = bpe.train([folder / "text" / "train.txt"], VOCABULARY, bpe.COVERAGE, MOST_SENTENCES)
    (folder / "bpe.model").write_bytes(model)


def encode(folder: Path, documents: int) -> None:
    """Split the sentences into pieces."""
    (folder / "pieces").mkdir()
    for part in ("train.txt", "valid.txt"):
        bpe.encode_file((folder / "bpe.model").read_bytes(), folder / "text" / part, folder / "pieces" / part, 1)


def binarise(folder: Path, documents: int) -> None:
    """Binarise the pieces."""
    binarise_english(folder / "pieces", folder / "binary")


def peak(stage: Callable[[Path, int], None], folder: Path, documents: int) -> int:
    """Peak memory of a stage, in MiB."""
    stage(folder, documents)
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) // 1024


def main() -> None:
    """Print a row for each size."""
    stages = (prepare, train_bpe, encode, binarise)
    print("MB of text", *(stage.__name__ for stage in stages), sep="\t")
    for documents in DOCUMENTS:
        with tempfile.TemporaryDirectory() as name:
            folder, peaks = Path(name), []
            for stage in stages:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                    peaks.append(process.submit(peak, stage, folder, documents).result())
            size = (folder / "text" / "train.txt").stat().st_size
            print(f"{size / 1e6:.1f}", *peaks, sep="\t", flush=True)


if __name__ == "__main__":
    main()
