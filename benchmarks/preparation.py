"""Preparing 160,000 sentence pairs: tokenised, lower-cased, split into pieces of a BPE vocabulary of 10,000.

Beside it sacremoses and subword-nmt, which the field's scripts are made of, one line after the other as they come.
fairseq binarises the pieces of both. The text is the grammar's, in sentences of about 10 words.
"""

from __future__ import annotations

import io
import os
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


def work(toolkit: str, folder: str) -> Callable[[], int]:
    """A round of preparing all pairs; its units are pairs."""
    sides = [Path(folder) / f"train.{language}" for language in ("de", "en")]
    return _ours(sides) if toolkit == "preln" else _others(sides)


def _ours(sides: list[Path]) -> Callable[[], int]:
    cores = int(os.environ["OMP_NUM_THREADS"])
    corpus = FilesCorpus(
        source="files",
        source_language="de",
        target_language="en",
        train=TextPaths(source=sides[0], target=sides[1]),
        vocabulary=VOCABULARY,
    )

    def do_round() -> int:
        with tempfile.TemporaryDirectory() as temporary:
            out = Path(temporary)
            prepare.prepare_text(corpus, out, out / "text", cores)
            prepare.prepare_bpe(out / "text", VOCABULARY, out / "bpe", cores)
        return PAIRS

    return do_round


def _others(sides: list[Path]) -> Callable[[], int]:
    from sacremoses import MosesTokenizer
    from subword_nmt.apply_bpe import BPE
    from subword_nmt.learn_bpe import learn_bpe

    def do_round() -> int:
        texts = []
        for side in sides:
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
