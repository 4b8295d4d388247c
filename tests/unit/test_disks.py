"""A full disk is said as such wherever it strikes."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from preln.fairseq_plugin.binarise import binarise
from preln.fairseq_plugin.checkpoints import keep_weights
from preln.records.files import append_json, not_written, replaced_folder, write_json
from tests.conftest import ROOT
from tests.refused import names, refusal

RECORDS = ROOT / "results" / "quick-record"


def prepare(folder: Path) -> None:
    with replaced_folder(folder / "text") as partial:
        (partial / "train.de").write_bytes(bytes(100_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "write",
    [
        lambda folder, prepared: keep_weights(folder / "weights-6.pt", torch.nn.Linear(100, 100).state_dict()),
        lambda folder, prepared: prepare(folder),
        lambda folder, prepared: binarise(prepared / "bpe", "de", "en", folder / "binary"),
        lambda folder, prepared: write_json(folder / "run.json", "x" * 100_000),
        lambda folder, prepared: append_json(folder / "record.jsonl", {"text": "x" * 100_000}),
    ],
    ids=["kept weights", "a prepared text", "binary text", "a record", "a line"],
)
def test_a_full_disk_is_said_with_the_file_and_nothing_half_takes_its_place(
    write: Callable[[Path, Path], None], disk: Path, prepared: Path
) -> None:
    with pytest.raises((OSError, RuntimeError)) as raised:
        write(disk, prepared)
    assert names(str(not_written(raised.value)), f"{disk}/", "the disk is full: make space and run the same command")
    assert [path.name for path in disk.iterdir()] in ([], ["record.jsonl"])
    append_json(disk / "record.jsonl", {"epoch": 1})


@pytest.mark.slow
@pytest.mark.parametrize("command", [("table", "runs", "runs.csv"), ("figure", "2", "figure.pdf")], ids=" ".join)
def test_the_command_line_says_it_in_a_line(command: tuple[str, str, str], disk: Path) -> None:
    (disk / "filler").write_bytes(bytes(16 * 1024))
    verb, of, file = command
    said = refusal(verb, str(RECORDS), of, "--out", str(disk / file))
    assert said.startswith(f"preln: {disk}/") and "full" in said and "\n" not in said
