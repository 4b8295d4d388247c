"""Binarisation of BPE pieces by fairseq."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from preln.files import UNWRITTEN, replaced_folder
from preln.prepared_stage import require_stage


def symbols(dictionary: Path) -> list[str]:
    """The symbols of a dictionary by their numbers: `<s>`, `<pad>`, `</s>`, `<unk>`, and the pieces."""
    # The functions below run fairseq as a program, and need not wait for its import.
    from fairseq.data import Dictionary

    return list(Dictionary.load(str(dictionary)).symbols)


def binarise(pieces: Path, source: str, target: str, out: Path, workers: int) -> None:
    """Binarise {train,valid,test}.{source,target} of the folder `pieces` into the folder `out`, with one dictionary for
    both languages.

    Raises:
        TextDamaged: if the pieces are not as they were prepared.
        RuntimeError: if fairseq fails; the message ends with what it printed.
    """
    require_stage(pieces)
    with replaced_folder(out) as folder:
        _preprocess(
            folder,
            *("--source-lang", source, "--target-lang", target),
            *("--trainpref", str(pieces / "train")),
            *("--validpref", str(pieces / "valid")),
            *("--testpref", str(pieces / "test")),
            *("--workers", str(workers)),
            "--joined-dictionary",
        )


def binarise_english(pieces: Path, out: Path, workers: int) -> None:
    """Binarise train.txt and valid.txt of the folder `pieces` into the folder `out`, with the dictionary of train.

    Raises:
        TextDamaged, RuntimeError: as `binarise`.
    """
    require_stage(pieces)
    with replaced_folder(out) as folder:
        _binarise_one_side(pieces / "train.txt", pieces / "valid.txt", folder, "--workers", str(workers))


def binarise_task(pieces: Path, dictionary: Path, out: Path) -> None:
    """Binarise {train,dev}.{input0,input1,label} of the folder `pieces` into the folder `out`: the sentences with the
    dictionary of the text that the model was pre-trained on.

    Raises:
        TextDamaged, RuntimeError: as `binarise`.
    """
    require_stage(pieces)
    require_stage(dictionary.parent, {dictionary.name}.__contains__)
    with replaced_folder(out) as folder:
        for side in ("input0", "input1"):
            _binarise_one_side(
                pieces / f"train.{side}", pieces / f"dev.{side}", folder / side, "--srcdict", str(dictionary)
            )
        # One order of labels, whichever is the more frequent one.
        labels = folder / "labels.txt"
        labels.write_text("0 1\n1 1\n", encoding="utf-8")
        _binarise_one_side(pieces / "train.label", pieces / "dev.label", folder / "label", "--srcdict", str(labels))


def _binarise_one_side(train: Path, valid: Path, out: Path, *options: str) -> None:
    """Binarise two files of one language."""
    _preprocess(out, "--only-source", "--trainpref", str(train), "--validpref", str(valid), *options)


def _preprocess(out: Path, *options: str) -> None:
    command = [sys.executable, "-m", "fairseq_cli.preprocess", "--destdir", str(out), *options]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        for number in UNWRITTEN:
            if os.strerror(number) in finished.stderr:
                raise OSError(number, os.strerror(number), str(out))
        raise RuntimeError(f"fairseq could not binarise, called with {' '.join(options)}:\n{finished.stderr[-2000:]}")
    # It says how fairseq was called, in which no two calls are alike.
    (out / "preprocess.log").unlink(missing_ok=True)
