"""Damage to a state is detected before anything is computed from it, and repaired by computing it again."""

import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from preln.config import Study, validate
from preln.errors import PrelnError
from preln.fairseq_plugin import launch
from preln.fairseq_plugin.checkpoints import CheckpointRefused, keep_weights, kept_weights, load_weights
from preln.fused import native
from preln.pretraining import runs as pretraining
from preln.pretraining.training import pretrain_run
from preln.records.files import Damaged, write_json_lines
from preln.training import state as run_state
from preln.training.state import RunState
from preln.translation.runs import Run, expand
from preln.translation.training import after_warmup, recorded_epochs, state_of, train_run
from tests.conftest import Trained, bert_content, study_content
from tests.trainings import curve_without_times as numbers

pytestmark = pytest.mark.slow

Damage = Callable[[Path], object]


def flip(path: Path, share: float = 0.5) -> None:
    """Change a bit of a file at a share of its length."""
    content = bytearray(path.read_bytes())
    content[int(share * len(content))] ^= 1
    path.write_bytes(content)


def take_out(path: Path, number: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))


def containing(content: bytes) -> Damage:
    return lambda path: path.write_bytes(content)


def link_to_zeros(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def study_and_run() -> tuple[Study, Run]:
    study = validate(study_content(), "study.yaml")
    return study, expand(study)[0]


@pytest.fixture
def finished(uninterrupted: Trained) -> Path:
    return uninterrupted[0] / uninterrupted[1].id


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The log as it was when each training was started."""
    caplog.set_level(logging.WARNING)
    messages: list[str] = []
    real = launch.train

    def train(*arguments: Any) -> None:
        messages.append(caplog.text)
        real(*arguments)

    monkeypatch.setattr(launch, "train", train)
    return messages


@dataclass(frozen=True)
class Copy:
    """A copy of the run that is done, whose records are to be written again, with the numbers that are expected."""

    folder: Path
    state: RunState
    prepared: Path
    expected: str

    def train(self) -> None:
        """Train it to the end again, or go on with it."""
        train_run(*study_and_run(), self.prepared, self.folder)

    def weights(self) -> Path:
        """Its weights after the warm-up."""
        return after_warmup(study_and_run()[1], self.prepared, self.folder).require()

    def record(self, name: str = "run.json") -> Any:
        return json.loads((self.folder / name).read_text())


@pytest.fixture
def copy(finished: Path, prepared: Path, tmp_path: Path) -> Copy:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    for name in ("run.json", "curve.csv", "metrics.json"):
        (folder / name).unlink()
    return Copy(folder, state_of(study_and_run()[1], prepared, folder), prepared, numbers(finished))


@pytest.mark.parametrize(
    ("damage", "goes_on_from"), [(Path.unlink, 0), (partial(flip, share=0.9), 2)], ids=["gone", "a bit"]
)
def test_unrecorded_epochs_are_trained_again(damage: Damage, goes_on_from: int, copy: Copy, logs: list[str]) -> None:
    damage(copy.state.record)
    copy.train()
    assert numbers(copy.folder) == copy.expected
    assert f"no record after epoch {goes_on_from}:" in logs[0]
    assert copy.state.attempts()[-1]["epochs_before"] == goes_on_from
    # Two are kept.
    assert len(list((copy.state.folder / "quarantine").iterdir())) == min(3 - goes_on_from, 2)
    assert recorded_epochs(copy.state) == 3


def test_epochs_whose_translations_are_damaged_are_trained_again(copy: Copy, logs: list[str]) -> None:
    translations = copy.state.translations("test", 2)
    before = translations.read_bytes()
    flip(translations)
    copy.train()
    assert numbers(copy.folder) == copy.expected
    assert "no record after epoch 1:" in logs[0]
    assert translations.read_bytes() == before


def test_a_training_that_diverged_makes_its_translations_again(copy: Copy) -> None:
    copy.state.note_divergence(170, "the loss exploded")
    copy.state.translations("test", 3).unlink()
    copy.train()
    assert numbers(copy.folder) == copy.expected
    assert copy.state.translations("test", 3).exists()


@pytest.mark.parametrize("content", [b"", b'{"update": 3}'])
def test_a_damaged_mark_of_divergence_is_set_aside_and_the_training_goes_on(content: bytes, copy: Copy) -> None:
    copy.state.mark.write_bytes(content)
    copy.train()
    assert copy.record("metrics.json")["status"] == "finished"
    assert numbers(copy.folder) == copy.expected
    assert (copy.state.folder / "diverged.json.damaged").read_bytes() == content


def test_a_mark_of_divergence_counts_with_the_record_that_it_is_of(copy: Copy, logs: list[str]) -> None:
    copy.state.note_divergence(170, "the loss exploded")
    copy.train()
    assert copy.record("metrics.json")["diverged"] == {"update": 170, "reason": "the loss exploded", "epoch": 4}
    assert not logs
    take_out(copy.state.record, 8)
    copy.train()
    assert copy.record("metrics.json")["status"] == "finished"
    assert numbers(copy.folder) == copy.expected


def test_damaged_attempts_stop_nothing_and_train_nothing_again(copy: Copy) -> None:
    copy.state.attempts_file.write_bytes(b"5\nnull\n\xff\n")
    copy.train()
    assert numbers(copy.folder) == copy.expected
    assert [attempt["epochs_before"] for attempt in copy.record()["attempts"]] == [3]


def test_damaged_weights_are_made_again_before_they_are_used(copy: Copy, logs: list[str]) -> None:
    kept = copy.state.folder / "after-warm-up.pt"
    expected = kept_weights(kept)
    link_to_zeros(kept)
    assert copy.weights() == kept
    assert "after-warm-up.pt: missing or damaged; training again" in logs[0]
    result = kept_weights(kept)
    assert all(torch.equal(result[name], expected[name]) for name in expected)
    assert not list(copy.state.folder.glob("again-*"))
    assert copy.weights() == kept
    assert len(logs) == 1


def test_records_made_again_are_the_trainings(copy: Copy, finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = json.loads((finished / "run.json").read_text())
    assert before["versions"] == before["attempts"][-1]["versions"]
    monkeypatch.setattr(run_state, "versions", lambda: {"torch": "of another machine"})
    monkeypatch.setattr(run_state, "hardware", lambda _: {"processor": "another", "gpus": []})
    monkeypatch.setattr(run_state, "commit", lambda: {"commit": "another", "commit_changed": True})
    copy.train()
    assert copy.record() == before


def test_lost_checkpoints_name_the_attempt_that_trains_again(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    for checkpoint in copy.state.checkpoints.iterdir():
        checkpoint.unlink()
    monkeypatch.setattr(run_state, "versions", lambda: {"torch": "of another machine"})
    copy.train()
    assert len(copy.record()["attempts"]) == 2
    assert copy.record()["versions"] == {"torch": "of another machine"}


@pytest.mark.parametrize(
    "kind",
    [
        {"workers": 2},
        {"graphs": True},
        {"gpus": ["NVIDIA H200"]},
        {"loops": "AVX2" if native.loops() == "PyTorch" else "PyTorch"},
    ],
    ids=["several processes", "graphs", "a GPU", "other loops"],
)
def test_weights_are_not_made_again_by_another_kind_of_job_than_trained_them(kind: dict[str, Any], copy: Copy) -> None:
    (attempt,) = copy.state.attempts()
    changed = {**attempt, **kind, "hardware": {**attempt["hardware"], **kind}}
    write_json_lines(copy.state.attempts_file, [changed])
    flip(copy.state.folder / "after-warm-up.pt")
    message = r"after-warm-up\.pt: missing or damaged, and this job, one process.*move .*away"
    with pytest.raises(PrelnError, match=message):
        copy.weights()


def test_weights_of_a_study_of_several_processes_are_not_made_again_by_one(copy: Copy) -> None:
    (run,) = expand(validate(study_content({"accumulate": 2}, execution={"processes": 2}), "study.yaml"))
    flip(copy.state.folder / "after-warm-up.pt")
    with pytest.raises(PrelnError, match=r"after-warm-up\.pt: missing or damaged.*; move .*/run away"):
        after_warmup(run, copy.prepared, copy.folder).require()


def test_the_training_that_makes_weights_again_notes_its_attempt(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    flip(copy.state.folder / "after-warm-up.pt")
    noted: list[list[Any]] = []
    train = launch.train

    def spy(arguments: list[str], precision: Any, again: RunState, execution: Any) -> None:
        # Processes on several GPUs say there on which.
        noted.append(again.attempts())
        train(arguments, precision, again, execution)

    monkeypatch.setattr(launch, "train", spy)
    copy.weights()
    assert [len(attempt) for attempt in noted] == [1]


def pretrained(prepared_text: Path, folder: Path) -> RunState:
    """The state of a pre-training that is done, or that goes on."""
    study = validate(bert_content(checkpoints=(4, 12)), "study.yaml")
    pretrain_run(study, pretraining.expand(study)[0], prepared_text, folder)
    (state,) = (folder / "state").iterdir()
    return RunState(state)


def test_a_training_that_goes_on_makes_the_weights_that_it_kept_again(prepared_text: Path, tmp_path: Path) -> None:
    kept = [pretrained(prepared_text, tmp_path).folder / f"weights-{update}.pt" for update in (4, 12)]
    before, expected = numbers(tmp_path), {path: kept_weights(path) for path in kept}
    for path in kept:
        flip(path)
    pretrained(prepared_text, tmp_path)
    assert numbers(tmp_path) == before
    for path, weights in expected.items():
        result = kept_weights(path)
        assert all(torch.equal(result[name], weights[name]) for name in weights)


def test_unrecorded_validations_are_trained_again(prepared_text: Path, tmp_path: Path, logs: list[str]) -> None:
    state = pretrained(prepared_text, tmp_path)
    before = numbers(tmp_path)
    take_out(state.record, 3)
    pretrained(prepared_text, tmp_path)
    assert "no record after update 9" in logs[1]
    assert numbers(tmp_path) == before
    assert state.attempts()[-1]["updates_before"] == 9


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([1], "it belongs to another run"),
        ({"state": "another", "weights": torch.nn.Linear(2, 2).state_dict()}, "it belongs to another run"),
        (
            {"state": "state", "weights": {"weight": torch.zeros(3, 2)}},
            "it does not hold the weights of this run's model",
        ),
        ({"weight": Path("a")}, r"it holds more than tensors and settings \(pathlib\S*\.PosixPath\)"),
    ],
    ids=["a list", "another run's", "other shapes", "a foreign object"],
)
def test_foreign_kept_weights_are_refused_in_a_line_with_what_to_do(content: Any, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "state" / "weights-6.pt"
    path.parent.mkdir()
    torch.save(content, path)
    with pytest.raises(CheckpointRefused, match=f"{path}: refused: {reason}; move it away and run") as refused:
        load_weights(torch.nn.Linear(2, 2), path)
    assert "\n" not in str(refused.value) and "weights_only" not in str(refused.value)


@pytest.mark.parametrize("damage", [flip, containing(b""), link_to_zeros])
def test_damaged_weights_are_never_loaded(damage: Damage, tmp_path: Path) -> None:
    path = tmp_path / "weights-6.pt"
    keep_weights(path, torch.nn.Linear(40, 40).state_dict())
    damage(path)
    with pytest.raises(CheckpointRefused, match=f"{path}: refused: it is damaged; move it away and run"):
        load_weights(torch.nn.Linear(40, 40), path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("text/test.en", flip),
        ("text/corpus.json", containing(b"\xff")),
        ("text/manifest.json", containing(b"5")),
        ("bpe/bpe.model", flip),
        ("binary/train.de-en.en.bin", flip),
        ("binary/dict.de.txt", Path.unlink),
    ],
)
def test_damaged_text_is_refused_with_what_to_do(name: str, damage: Damage, prepared: Path, tmp_path: Path) -> None:
    text = shutil.copytree(prepared, tmp_path / "prepared")
    damage(text / name)
    with pytest.raises(Damaged, match=rf"{name}: damaged.*; remove {text} and run the workflow again"):
        train_run(*study_and_run(), text, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_that_has_no_prepared_text_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Damaged, match=r"empty/text: not there; .*empty is not the folder of a prepared text"):
        train_run(*study_and_run(), tmp_path / "empty", tmp_path / "run")
