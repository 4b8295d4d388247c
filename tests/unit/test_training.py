"""A run through real fairseq: its records, its exact continuation after a kill, its divergence, its safety."""

import contextlib
import csv
import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from preln.errors import PrelnError
from preln.fairseq_plugin.checkpoints import CheckpointRefused, is_whole, newest_checkpoint
from preln.fairseq_plugin.translation import RecordedTranslation
from preln.records.files import read_json_lines, write_json, write_json_lines
from preln.translation.curve import COLUMNS
from preln.translation.runs import Run
from preln.translation.training import state_of, train_run, trained
from preln.translation.unigram_baseline import of_prepared
from tests.conftest import Trained, overflow_validations
from tests.moments import PATIENCE, NewHold, Started, before_file, in_epoch, is_running, wait
from tests.trainings import TIMES, finish, kill_at, logged, metrics, numbers, start, write_study

pytestmark = pytest.mark.slow


COLLATING_AHEAD = [
    "-c",
    "from preln.config import Execution; Execution.collators = property(lambda self: 1); import preln.__main__",
]
"""Python's arguments for a training on a CPU whose batches another process collates, as is done for GPUs."""


def test_a_training_records_epochs_its_end_and_how_bleu_was_computed(uninterrupted: Trained, prepared: Path) -> None:
    folder = uninterrupted[0] / uninterrupted[1].id
    curve = pd.read_csv(folder / "curve.csv")
    assert list(curve.columns) == COLUMNS
    assert list(curve["epoch"]) == [1, 2, 3]
    assert curve.notna().all(axis=None)
    assert curve["valid_loss"].is_monotonic_decreasing
    values = metrics(*uninterrupted)
    assert (values["status"], values["epochs"]) == ("finished", 3)
    # pandas reads some numbers with another last digit.
    *_, last = csv.DictReader((folder / "curve.csv").read_text().splitlines())
    assert values["final"] == {name: float(number) for name, number in last.items()}
    assert "tok:none" in values["bleu"]["tokenised"]
    assert values["bleu"]["sentences"] == {"valid": 10, "test": 10}
    assert len(values["bleu"]["seconds"]) == 3 and min(values["bleu"]["seconds"]) > 0
    smoothing = uninterrupted[1].settings.label_smoothing
    assert values["constant_guess"] == pytest.approx(of_prepared(prepared, "en", smoothing), abs=1e-4)
    record = json.loads((folder / "run.json").read_text())
    assert {"torch", "fairseq-fixed", "python", "sacrebleu"} <= record["versions"].keys()
    kept = [path.name for path in folder.glob("state/*/checkpoints/*")]
    assert sorted(kept) == ["checkpoint2.pt", "checkpoint3.pt"], "as many as are asked for"


def test_an_epoch_that_was_recorded_before_its_translations_were_timed_has_no_seconds_of_them(
    uninterrupted: Trained, prepared: Path, tmp_path: Path
) -> None:
    shutil.copytree(uninterrupted[0], tmp_path, dirs_exist_ok=True)
    (state,) = (tmp_path / uninterrupted[1].id / "state").iterdir()
    entries = read_json_lines(state / "record.jsonl")
    for entry in entries:
        if entry["epoch"] == 1 and entry["part"] != "train":
            entry.pop("seconds", None)
    write_json_lines(state / "record.jsonl", entries)
    finish(tmp_path, uninterrupted[1], prepared)
    first, *others = metrics(tmp_path, uninterrupted[1])["bleu"]["seconds"]
    assert first is None
    assert others == metrics(*uninterrupted)["bleu"]["seconds"][1:]


def test_a_killed_training_ends_with_the_numbers_of_an_uninterrupted_one(
    hold: NewHold, uninterrupted: Trained, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The rank that a job of a cluster has is none of a training of one process.
    place = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    _, run = write_study(tmp_path)
    # Before a checkpoint, inside an epoch after one, and while translating in the last validation.
    moments = [before_file(r"checkpoint1\.pt"), in_epoch(3), before_file(r"test\.3\.txt")]
    kill_at(moments, hold, tmp_path, run, prepared)
    finish(tmp_path, run, prepared)
    assert numbers(tmp_path, run) == numbers(*uninterrupted)
    attempts = json.loads((tmp_path / run.id / "run.json").read_text())["attempts"]
    assert len(attempts) == len(moments) + 1


def test_another_run_text_or_piece_begins_anew_and_a_text_elsewhere_does_not(prepared: Path, tmp_path: Path) -> None:
    (_, run), (_, other) = (write_study(tmp_path, seed=seed) for seed in (1, 2))
    elsewhere = shutil.copytree(prepared, tmp_path / "prepared")
    path = elsewhere / "text" / "corpus.json"
    record = json.loads(path.read_text())
    write_json(path, {**record, "settings": {**record["settings"], "folder": "elsewhere"}})
    states = [state_of(run, prepared, tmp_path)]
    assert state_of(run, elsewhere, tmp_path) == states[0]
    states.append(state_of(other, prepared, tmp_path))
    record["parts"]["valid"]["files"]["valid.de"]["sha256"] = "another"
    write_json(path, record)
    states.append(state_of(run, elsewhere, tmp_path))
    for changed in ("bpe/bpe.model", "binary/dict.de.txt"):
        with open(elsewhere / changed, "ab") as file:
            file.write(b"\n")
        states.append(state_of(run, elsewhere, tmp_path))
    assert len({state.folder for state in states}) == 5


def test_a_loss_that_explodes_is_a_result(prepared: Path, tmp_path: Path) -> None:
    _, run = write_study(tmp_path, optimizer="sgd", learning_rate=10, warmup=0, placement="pre", epochs=2, width=64)
    finish(tmp_path, run, prepared)
    values = metrics(tmp_path, run)
    assert values["status"] == "diverged"
    assert values["diverged"]["update"] >= 1
    assert values["diverged"]["reason"]
    finish(tmp_path, run, prepared)
    assert metrics(tmp_path, run) == values
    with pytest.raises(PrelnError, match=rf"{run.id}: diverged at update \d+; there is no trained model"):
        trained(run, prepared, tmp_path / run.id)


def test_a_validation_whose_loss_is_not_finite_is_a_divergence(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, run = write_study(tmp_path)
    overflow_validations(monkeypatch, RecordedTranslation)
    train_run(study, run, prepared, tmp_path / run.id)
    assert metrics(tmp_path, run)["diverged"]["reason"] == "the loss of a validation is not finite"


# Dropout is drawn by each process for itself.
SHARED: dict[str, Any] = {"epochs": 1, "accumulate": 4, "dropout": 0.0, "batch_tokens": 160}


def losses(folder: Path, run: Run) -> pd.DataFrame:
    """curve.csv but for its times, and for BLEU, which jumps where a loss moves by a rounding."""
    curve = pd.read_csv(folder / run.id / "curve.csv")
    return curve.drop(columns=[*TIMES, *curve.filter(like="bleu").columns])


def test_processes_stop_together_and_go_on_with_the_same_numbers(hold: NewHold, prepared: Path, tmp_path: Path) -> None:
    for name in ("whole", "stopped"):
        # A training that went on from rounded weights would have other numbers.
        _, run = write_study(tmp_path / name, 2, precision="bf16", **SHARED)
    process = started(hold, tmp_path / "stopped", run, prepared, epoch=1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 1
    assert "stopped on request after update" in logged(tmp_path / "stopped" / "output.log")
    for name in ("whole", "stopped"):
        finish(tmp_path / name, run, prepared)
    assert numbers(tmp_path / "whole", run) == numbers(tmp_path / "stopped", run)


@pytest.mark.parametrize("disk", ["8m"], indirect=True)
def test_a_full_disk_leaves_the_last_checkpoint_whole_and_the_run_goes_on_after(
    disk: Path, hold: NewHold, uninterrupted: Trained, prepared: Path
) -> None:
    _, run = write_study(disk)
    # The output of the process goes elsewhere.
    (disk / "output.log").symlink_to(disk.with_name("output.log"))
    process = start(disk, run, prepared, training_hold := hold(in_epoch(2)))
    training_hold.wait(process)
    with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    training_hold.let_go()
    assert process.wait(PATIENCE) == 1
    (disk / "filler").unlink()
    assert "the disk is full" in logged(disk / "output.log")
    (state,) = (disk / run.id / "state").glob("*")
    assert newest_checkpoint(state / "checkpoints") is not None
    assert not list((state / "checkpoints").glob("*.tmp"))
    finish(disk, run, prepared)
    assert numbers(disk, run) == numbers(*uninterrupted)


def test_processes_end_with_the_one_that_started_them(hold: NewHold, prepared: Path, tmp_path: Path) -> None:
    _, run = write_study(tmp_path, 2, **SHARED)
    process = started(hold, tmp_path, run, prepared, epoch=1)
    begun = children(process)
    assert len(begun) == 2
    process.kill()
    process.wait()
    wait(lambda: not any(map(is_running, begun)))


def children(process: Started) -> list[int]:
    """The processes that it has begun and that run, Linux's numbers for them."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [child for each in threads for child in map(int, logged(each).split()) if is_running(child)]


def started(
    hold: NewHold, folder: Path, run: Run, prepared: Path, epoch: int = 2, preln: Sequence[str] | None = None
) -> Started:
    """A training that is held in an epoch."""
    moment = hold(in_epoch(epoch))
    process = start(folder, run, prepared, moment, preln)
    moment.wait(process)
    return process


def collating_ahead(hold: NewHold, folder: Path, run: Run, prepared: Path) -> tuple[Started, list[int]]:
    """A training in its second epoch, and the processes that collate its batches."""
    process = started(hold, folder, run, prepared, preln=COLLATING_AHEAD)
    collators = children(process)
    assert collators
    return process, collators


def test_a_training_whose_processes_are_all_told_to_stop_keeps_its_collators_and_goes_on_with_the_same_numbers(
    hold: NewHold, uninterrupted: Trained, prepared: Path, tmp_path: Path
) -> None:
    _, run = write_study(tmp_path)
    # In Pythons of their own, of which each hashes otherwise.
    process, collators = collating_ahead(hold, tmp_path, run, prepared)
    for collator in collators:
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(collator, number)
    process.send_signal(signal.SIGUSR1)
    assert process.wait(PATIENCE) == 1
    (state,) = (tmp_path / run.id / "state").glob("*")
    (checkpoint,) = (state / "checkpoints").glob("checkpoint_2_*.pt")
    update = checkpoint.stem.split("_")[-1]
    assert f"stopped on request after update {update}" in logged(tmp_path / "output.log")
    assert not any(map(is_running, collators))
    finish(tmp_path, run, prepared, COLLATING_AHEAD)
    assert numbers(tmp_path, run) == numbers(*uninterrupted)
    assert not (state / "stopped.json").exists()


def test_a_process_that_collates_ends_with_the_killed_training(hold: NewHold, prepared: Path, tmp_path: Path) -> None:
    _, run = write_study(tmp_path)
    process, collators = collating_ahead(hold, tmp_path, run, prepared)
    process.kill()
    process.wait()
    wait(lambda: not any(map(is_running, collators)))


def test_processes_are_one_with_accumulation_to_rounding_and_fewer_go_on_with_the_run(
    hold: NewHold, prepared: Path, tmp_path: Path
) -> None:
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    _, run = write_study(alone, **SHARED)
    finish(alone, run, prepared)
    assert write_study(shared, 2, **SHARED)[1].identity == run.identity
    process = started(hold, shared, run, prepared, epoch=1)
    process.terminate()
    assert process.wait(PATIENCE) == 1
    assert list(shared.glob("*/state/*/checkpoints/checkpoint_1_*.pt")), "stopped inside the epoch"
    write_study(shared, 1, **SHARED)
    finish(shared, run, prepared)
    pd.testing.assert_frame_equal(losses(shared, run), losses(alone, run), rtol=1e-3)


class Foreign:
    """An object that no checkpoint of ours holds."""


def save(folder: Path, name: str, **content: Any) -> Path:
    """Write a checkpoint that says that it is of the state that the folder is in."""
    torch.save({"extra_state": {"Recorded": {"state": folder.parent.name}}, **content}, folder / name)
    return folder / name


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"model": {}, "extra": Foreign()}, r"it holds more than tensors and settings \(tests\.unit\S+Foreign\)"),
        ({"extra_state": {"Recorded": {"state": "another"}}}, "it belongs to another run"),
        ([1, 2], "it belongs to another run"),
    ],
    ids=["a foreign object", "another run's", "a list"],
)
def test_a_foreign_checkpoint_is_refused_in_a_line_with_what_to_do(content: Any, reason: str, tmp_path: Path) -> None:
    save(tmp_path, "checkpoint2.pt")
    torch.save(content, tmp_path / "checkpoint3.pt")
    with pytest.raises(CheckpointRefused, match=f"checkpoint3.pt: refused: {reason}; move it away to") as refused:
        newest_checkpoint(tmp_path)
    assert "\n" not in str(refused.value) and "weights_only" not in str(refused.value)


@pytest.mark.parametrize("target", ["/dev/zero", "nowhere"])
def test_what_is_no_file_is_no_checkpoint(target: str, tmp_path: Path) -> None:
    save(tmp_path, "checkpoint1.pt")
    (tmp_path / "checkpoint2.pt").symlink_to(target)
    assert newest_checkpoint(tmp_path) == tmp_path / "checkpoint1.pt"
    assert not is_whole(tmp_path / "checkpoint2.pt")


@pytest.mark.parametrize("damage", ["a flipped bit", "cut off"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before_it(damage: str, tmp_path: Path) -> None:
    for epoch in (1, 2):
        save(tmp_path, f"checkpoint{epoch}.pt", model=torch.zeros(100))
    damaged = bytearray((tmp_path / "checkpoint2.pt").read_bytes())
    weights = damaged.index(bytes(400))
    damaged[weights + 200] ^= 1
    (tmp_path / "checkpoint2.pt").write_bytes(damaged if damage == "a flipped bit" else damaged[:weights])
    assert newest_checkpoint(tmp_path) == tmp_path / "checkpoint1.pt"


def test_a_checkpoint_inside_an_epoch_is_older_than_that_of_its_end_and_other_files_are_none(tmp_path: Path) -> None:
    for name in ("checkpoint.best_loss_1.5.pt", "checkpoint1.pt.tmp", "crash.pt", "after-warm-up.pt"):
        save(tmp_path, name)
    assert newest_checkpoint(tmp_path) is None
    for name in ("checkpoint2.pt", "checkpoint_3_25.pt", "checkpoint_3_9.pt"):
        save(tmp_path, name)
    assert newest_checkpoint(tmp_path) == tmp_path / "checkpoint_3_25.pt"
    save(tmp_path, "checkpoint3.pt")
    assert newest_checkpoint(tmp_path) == tmp_path / "checkpoint3.pt"
