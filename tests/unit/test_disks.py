"""A disk that is full, or may not be written to, is said as such wherever it strikes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from preln.commands import cli
from preln.fairseq_plugin.binarise import binarise
from preln.fairseq_plugin.checkpoints import keep_weights
from preln.records.files import append_json, not_written, replaced_folder, write_json

RECORDS = Path(__file__).parents[2] / "results" / "quick-record"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few pages."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def keep(folder: Path) -> None:
    keep_weights(folder / "weights-6.pt", torch.nn.Linear(100, 100).state_dict())


def prepare(folder: Path) -> None:
    with replaced_folder(folder / "text") as partial:
        (partial / "train.de").write_bytes(bytes(100_000))


@pytest.mark.parametrize(
    "write",
    [
        keep,
        prepare,
        lambda folder: write_json(folder / "run.json", "x" * 100_000),
        lambda folder: append_json(folder / "record.jsonl", {"text": "x" * 100_000}),
    ],
    ids=["kept weights", "a prepared text", "a record", "a line"],
)
def test_a_full_disk_is_said_with_the_file_and_nothing_half_takes_its_place(
    write: Callable[[Path], None], disk: Path
) -> None:
    with pytest.raises((OSError, RuntimeError)) as raised:
        write(disk)
    assert str(not_written(raised.value)).startswith(f"{disk}/")
    assert "the disk is full: make space and run the same command" in str(not_written(raised.value))
    assert [path.name for path in disk.iterdir()] in ([], ["record.jsonl"])
    append_json(disk / "record.jsonl", {"epoch": 1})


@pytest.mark.slow
def test_a_full_disk_is_said_of_binarising_too(disk: Path, prepared: Path) -> None:
    with pytest.raises(OSError) as raised:
        binarise(prepared / "bpe", "de", "en", disk / "binary")
    assert "the disk is full" in str(not_written(raised.value))
    assert not list(disk.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["table", "RECORDS", "runs", "--out", "DISK/runs.csv"],
        ["figure", "RECORDS", "2", "--out", "DISK/figure.pdf"],
    ],
    ids=["a table", "a figure"],
)
@pytest.mark.parametrize("problem", ["full", "read-only"])
def test_the_command_line_says_it_in_a_line(
    command: list[str], problem: str, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (disk / "filler").write_bytes(bytes(16 * 1024))
    if problem == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    words = {"RECORDS": str(RECORDS), "DISK": str(disk)}
    for name, value in words.items():
        command = [argument.replace(name, value) for argument in command]
    monkeypatch.setattr(sys, "argv", ["preln", *command])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = str(ended.value)
    assert said.startswith(f"preln: {disk}/") and problem in said and "\n" not in said
