"""Preparing 160,000 sentence pairs: tokenised, lower-cased, split into pieces of a BPE vocabulary of 10,000.

Beside it sacremoses and subword-nmt, which the field's scripts are made of, one line after the other as they come. The
pieces are binarised by us and by fairseq's own program. The sentences are the embedded text's, of about 10 words, each
several times and with another number in front.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from preln.config import FilesCorpus, TextPaths
from preln.corpora import data, prepare

PAIRS, VOCABULARY = 160_000, 10_000


def prepare_folder(folder: Path) -> None:
    """Write the text, unless it is there."""
    if not (folder / "train.en").exists():
        pairs = data.pairs()
        for side, language in enumerate(("de", "en")):
            lines = (f"{number // len(pairs)} {pairs[number % len(pairs)][side]}\n" for number in range(PAIRS))
            (folder / f"train.{language}").write_text("".join(lines), encoding="utf-8")


def work(toolkit: str, folder: str, step: str = "prepare") -> Callable[[], int]:
    """A round of a step, `prepare` or `binarise`, with all pairs; its units are pairs."""
    if step == "binarise":
        return _binarise(toolkit, Path(folder))
    return _ours(Path(folder)) if toolkit == "preln" else _others(Path(folder))


def prepare_pieces(folder: Path) -> None:
    """Make the pieces that are binarised, unless they are there."""
    if not (folder / "bpe").exists():
        prepare.prepare_text(_corpus(folder), folder, folder / "text", 2)
        prepare.prepare_bpe(folder / "text", VOCABULARY, folder / "bpe", 2)


def _corpus(folder: Path) -> FilesCorpus:
    return FilesCorpus(
        source="files",
        source_language="de",
        target_language="en",
        train=TextPaths(source=folder / "train.de", target=folder / "train.en"),
        vocabulary=VOCABULARY,
    )


def _binarise(toolkit: str, folder: Path) -> Callable[[], int]:
    pieces, command = folder / "bpe", [sys.executable, "-m"]
    if toolkit == "preln":
        command += ["preln", "binarise", f"--pieces={pieces}", "--source=de", "--target=en", "--out"]
    else:
        parts = [f"--{part}pref={pieces / part}" for part in ("train", "valid", "test")]
        command += ["fairseq_cli.preprocess", "--joined-dictionary", f"--workers={os.environ['OMP_NUM_THREADS']}"]
        command += ["--source-lang=de", "--target-lang=en", *parts, "--destdir"]

    def do_round() -> int:
        with tempfile.TemporaryDirectory() as temporary:
            subprocess.run([*command, f"{temporary}/binary"], check=True, capture_output=True)
        return PAIRS

    return do_round


def _ours(folder: Path) -> Callable[[], int]:
    cores = int(os.environ["OMP_NUM_THREADS"])
    corpus = _corpus(folder)

    def do_round() -> int:
        with tempfile.TemporaryDirectory() as temporary:
            out = Path(temporary)
            prepare.prepare_text(corpus, out, out / "text", cores)
            prepare.prepare_bpe(out / "text", VOCABULARY, out / "bpe", cores)
        return PAIRS

    return do_round


def _others(folder: Path) -> Callable[[], int]:
    from sacremoses import MosesTokenizer
    from subword_nmt.apply_bpe import BPE
    from subword_nmt.learn_bpe import learn_bpe

    def do_round() -> int:
        texts = []
        for side in (folder / "train.de", folder / "train.en"):
            tokeniser = MosesTokenizer(side.suffix[1:])
            lines = side.read_text(encoding="utf-8").splitlines()
            texts.append([tokeniser.tokenize(line, escape=True, return_str=True).lower() for line in lines])
        codes = io.StringIO()
        learn_bpe(io.StringIO("\n".join(line for text in texts for line in text)), codes, VOCABULARY)
        codes.seek(0)
        pieces = BPE(codes)
        for text in texts:
            for line in text:
                pieces.process_line(line)
        return PAIRS

    return do_round
