"""Binarisation of BPE pieces by fairseq, with one dictionary for both languages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from preln.files import replaced_folder


def binarise(pieces: Path, source: str, target: str, out: Path, workers: int) -> None:
    """Binarise {train,valid,test}.{source,target} of the folder `pieces` into the folder `out`.

    Raises:
        RuntimeError: if fairseq fails; the message ends with what it printed.
    """
    with replaced_folder(out) as folder:
        command = [
            *(sys.executable, "-m", "fairseq_cli.preprocess"),
            *("--source-lang", source, "--target-lang", target),
            *("--trainpref", str(pieces / "train")),
            *("--validpref", str(pieces / "valid")),
            *("--testpref", str(pieces / "test")),
            *("--destdir", str(folder)),
            *("--workers", str(workers)),
            "--joined-dictionary",
        ]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode:
            raise RuntimeError(f"fairseq could not binarise {pieces}:\n{finished.stderr[-2000:]}")
