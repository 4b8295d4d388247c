"""Preparing 160,000 sentence pairs: tokenising, lower-casing, and splitting by a BPE vocabulary of 10,000.

The baseline is sacremoses and subword-nmt, as in the field's scripts, line by line. The pieces are binarised by us and
by fairseq's own program. The text is the grammar's, in sentences of about 10 words.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from preln import generated_text
from preln.config import FilesCorpus, TextPaths
from preln.corpora import prepare

PAIRS, VOCABULARY = 160_000, 10_000


def prepare_folder(folder: Path) -> None:
    """Write the text, unless it is there."""
    if not (folder / "train.en").exists():
        pairs: list[tuple[str, str]] = []
        for seed in range(1, 1 + PAIRS // 80_000):
            pairs += generated_text.generate(80_000, seed)
        for side, language in enumerate(("de", "en")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"train.{language}").write_text(text, encoding="utf-8")


def work(toolkit: str, folder: str, step: str = "prepare") -> Callable[[], int]:
    """A round of a step, `prepare` or `binarise`, with all pairs; its units are pairs."""
    if step == "binarise":
        return _binarise(toolkit, Path(folder))
    return _by_preln(Path(folder)) if toolkit == "preln" else _by_scripts(Path(folder))


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


def _by_preln(folder: Path) -> Callable[[], int]:
    cores = int(os.environ["OMP_NUM_THREADS"])
    corpus = _corpus(folder)

    def do_round() -> int:
        with tempfile.TemporaryDirectory() as temporary:
            out = Path(temporary)
            prepare.prepare_text(corpus, out, out / "text", cores)
            prepare.prepare_bpe(out / "text", VOCABULARY, out / "bpe", cores)
        return PAIRS

    return do_round


def _by_scripts(folder: Path) -> Callable[[], int]:
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
