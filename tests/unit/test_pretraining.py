"""A pre-training through real fairseq: its masks, its records, its exact continuation after a kill, its divergence."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from fairseq import tasks

from preln.config import Study, validate, write
from preln.fairseq_plugin import launch, options
from preln.fairseq_plugin.checkpoints import kept_weights
from preln.fairseq_plugin.masked_lm import RecordedMaskedLM, weights_name
from preln.pretraining import training
from preln.pretraining.runs import PretrainingRun, expand
from preln.training.validations import COLUMNS
from tests.conftest import TEXT, MakeOnce, bert_content, overflow_validations, prepare_english
from tests.moments import NewHold, after_update
from tests.trainings import finish, kill_at, logged, metrics, numbers, start

pytestmark = pytest.mark.slow


def task_of(prepared: Path, **changes: Any) -> Any:
    """The task of a run with train and valid loaded."""
    run = expand(validate(bert_content(changes), "study.yaml"))[0]
    arguments = options.pretraining(run.settings, prepared / "binary", prepared, [], run.execution)
    task = tasks.setup_task(launch.configuration(arguments, "fp32").task)
    for split in ("train", "valid"):
        task.load_dataset(split)
    return task


def batch(task: Any, split: str, epoch: int = 1) -> dict[str, np.ndarray[Any, Any]]:
    """The whole split as masked in an epoch: what the model reads, and what it is to say (padding where nothing)."""
    dataset = task.dataset(split)
    dataset.set_epoch(epoch)
    result = dataset.collater([dataset[i] for i in range(len(dataset))])
    return {"read": result["net_input"]["src_tokens"].numpy(), "target": result["target"].numpy()}


def test_of_15_percent_of_the_tokens_8_in_10_are_masked_and_1_in_10_random(prepared_text: Path) -> None:
    task = task_of(prepared_text, sequence_length=128)
    words = task.source_dictionary
    masked = replaced = kept = total = 0
    for epoch in range(1, 6):
        result = batch(task, "train", epoch)
        asked = result["target"] != words.pad()
        total += int((result["read"] != words.pad()).sum())
        masked += int((result["read"][asked] == task.mask_idx).sum())
        kept += int((result["read"][asked] == result["target"][asked]).sum())
        assert not ((result["read"] == task.mask_idx) & ~asked).any()
        replaced += int(((result["read"] != result["target"]) & (result["read"] != task.mask_idx) & asked).sum())
    asked_for = masked + replaced + kept
    # Five standard deviations: a right masking fails once in a million.
    for count, of, share in (
        (asked_for, total, 0.15),
        (masked, asked_for, 0.8),
        # A random token is the same one now and then.
        (replaced, asked_for, 0.1 * (1 - 1 / len(words))),
    ):
        assert abs(count / of - share) < 5 * math.sqrt(share * (1 - share) / of)


def test_every_epoch_of_every_run_has_its_own_masks_and_every_validation_the_same(prepared_text: Path) -> None:
    first, second = (task_of(prepared_text, seed=seed) for seed in (1, 2))
    for key in ("read", "target"):
        np.testing.assert_array_equal(batch(first, "valid")[key], batch(second, "valid")[key])
    trained = batch(first, "train", 1)["target"]
    for other in (batch(first, "train", 2), batch(second, "train", 1)):
        assert (other["target"] != trained).any()


def test_a_sequence_is_the_next_tokens_of_the_text(prepared_text: Path) -> None:
    task = task_of(prepared_text)
    words, result = task.source_dictionary, batch(task, "valid")
    original = np.where(result["target"] != words.pad(), result["target"], result["read"])
    rows = [row[row != words.pad()] for row in original]
    assert all(row[0] == words.bos() for row in rows)
    # The last sequence has what is left.
    assert sum(len(row) == 32 for row in rows) >= len(rows) - 1
    pieces = (prepared_text / "bpe" / "valid.txt").read_text(encoding="utf-8").splitlines()
    text = [token for line in pieces for token in [*(words.index(p) for p in line.split()), words.eos()]]
    assert text[:31] in [list(row[1:]) for row in rows]


def write_study(folder: Path, **changes: Any) -> tuple[Study, PretrainingRun]:
    content = bert_content(changes, execution={"log_interval": 1}, checkpoints=(0, 4, changes.get("updates", 12)))
    study = validate(content, "study.yaml")
    write(study, folder / "study.yaml")
    return study, expand(study)[0]


def state_of(folder: Path, run: PretrainingRun) -> Path:
    return next((folder / run.id / "state").iterdir())


Trained = tuple[Path, PretrainingRun]
"""The folder of a study, and its run."""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, prepared_text: Path) -> Trained:
    folder = tmp_path_factory.mktemp("uninterrupted")
    _, run = write_study(folder)
    finish(folder, run, prepared_text)
    return folder, run


def test_a_training_records_each_validation_with_its_rate_and_origin_and_keeps_the_weights_of_the_checkpoints(
    uninterrupted: Trained,
) -> None:
    folder, run = uninterrupted
    curve = pd.read_csv(folder / run.id / "curve.csv")
    assert list(curve.columns) == COLUMNS
    assert list(curve["updates"]) == [3, 6, 9, 12]
    assert curve.notna().all(axis=None)
    assert curve["valid_loss"].is_monotonic_decreasing
    assert list(curve["learning_rate"]) == pytest.approx([0.002 * (12 - update) / 12 for update in curve["updates"]])
    assert (metrics(folder, run)["status"], metrics(folder, run)["updates"]) == ("finished", 12)
    record = json.loads((folder / run.id / "run.json").read_text())
    assert record["identity"] == run.identity
    assert record["text"]["parts"]["valid"]["documents"] >= 1
    kept = {update: state_of(folder, run) / weights_name(update) for update in (0, 4, 12)}
    assert sorted(state_of(folder, run).glob("weights-*.pt")) == sorted(kept.values())
    weights = {update: kept_weights(path) for update, path in kept.items()}
    name = "encoder.sentence_encoder.layers.0.fc1.weight"
    assert float(weights[0][name].std()) == pytest.approx(0.02, rel=0.15)
    assert not torch.equal(weights[0][name], weights[4][name])
    last = torch.load(next(state_of(folder, run).glob("checkpoints/checkpoint_*_12.pt")), weights_only=False)
    assert torch.equal(last["model"][name], weights[12][name])


@pytest.fixture(scope="session")
def short_text(make_once: MakeOnce, prepared_text: Path) -> Path:
    """A text of some 120 sequences, so that an epoch takes a moment."""

    def fill(folder: Path) -> None:
        documents = logged(prepared_text / "text" / "train.txt").splitlines()[:240]
        (folder / "mine.txt").write_text("\n\n".join(documents), encoding="utf-8")
        source = {"source": "files", "path": str(folder / "mine.txt"), "documents": "blank-line"}
        prepare_english({**TEXT, "sources": [source]}, folder)

    return make_once("a short text", fill)


# An epoch of the short text is eight updates of so many sequences, or two, or one.
EIGHT, TWO, ONE = ({"batch_sequences": sequences} for sequences in (16, 64, 128))


def killed_beside_whole(hold: NewHold, text: Path, folder: Path, **changes: Any) -> PretrainingRun:
    """The run of two trainings, of which one is killed after update 7, and so goes back to update 6."""
    for name in ("whole", "killed"):
        _, run = write_study(folder / name, **changes)
    kill_at([after_update(7)], hold, folder / "killed", run, text)
    for name in ("whole", "killed"):
        finish(folder / name, run, text)
    return run


def test_a_killed_training_goes_on_into_the_same_next_epoch(hold: NewHold, short_text: Path, tmp_path: Path) -> None:
    run = killed_beside_whole(hold, short_text, tmp_path, **EIGHT, updates=10, validate_every=2)
    assert '"epoch": 2' in logged(state_of(tmp_path / "whole", run) / "training.log")
    assert numbers(tmp_path / "killed", run) == numbers(tmp_path / "whole", run)


def test_where_validations_end_epochs_the_last_is_gone_on_from(hold: NewHold, short_text: Path, tmp_path: Path) -> None:
    run = killed_beside_whole(hold, short_text, tmp_path, **ONE, updates=8, validate_every=2)
    assert numbers(tmp_path / "killed", run) == numbers(tmp_path / "whole", run)
    attempts = [json.loads(line) for line in logged(state_of(tmp_path / "killed", run) / "attempts.jsonl").splitlines()]
    assert [attempt["updates_before"] for attempt in attempts] == [0, 6]
    assert training.trained(run, short_text, tmp_path / "whole" / run.id).moment.update == 8
    assert len(list(state_of(tmp_path / "whole", run).glob("checkpoints/checkpoint_*_*.pt"))) == 2


def test_a_training_of_epochs_of_one_update_stops_when_told_to(hold: NewHold, short_text: Path, tmp_path: Path) -> None:
    for name in ("whole", "stopped"):
        _, run = write_study(tmp_path / name, **ONE, updates=12, validate_every=6)
    moment = hold(after_update(2))
    process = start(tmp_path / "stopped", run, short_text, moment)
    moment.wait(process)
    process.terminate()
    moment.let_go()
    assert process.wait() != 0
    assert "checkpoint_3_3.pt" in {path.name for path in state_of(tmp_path / "stopped", run).glob("checkpoints/*")}
    for name in ("whole", "stopped"):
        finish(tmp_path / name, run, short_text)
    assert numbers(tmp_path / "stopped", run) == numbers(tmp_path / "whole", run)


def test_a_validation_whose_loss_is_not_finite_is_a_divergence(
    prepared_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, run = write_study(tmp_path)
    overflow_validations(monkeypatch, RecordedMaskedLM)
    training.pretrain_run(study, run, prepared_text, tmp_path / run.id)
    assert metrics(tmp_path, run)["diverged"]["reason"] == "the loss of a validation is not finite"


def test_a_last_checkpoint_is_gone_on_from_before_it_is_named_and_made_again_where_there_is_none(
    short_text: Path, tmp_path: Path
) -> None:
    _, run = write_study(tmp_path, **TWO, updates=8, validate_every=2)
    finish(tmp_path, run, short_text)
    names = ["updates", "valid_loss", "train_loss"]
    curve = tmp_path / run.id / "curve.csv"
    before = pd.read_csv(curve)[names]
    (last,) = state_of(tmp_path, run).glob("checkpoints/checkpoint_4_8.pt")
    last.replace(last.with_name("checkpoint4.pt"))
    finish(tmp_path, run, short_text)
    assert training.trained(run, short_text, tmp_path / run.id).moment.update == 8
    (last,) = state_of(tmp_path, run).glob("checkpoints/checkpoint_4_8.pt")
    last.unlink()
    finish(tmp_path, run, short_text)
    assert training.trained(run, short_text, tmp_path / run.id).moment.update == 8
    assert pd.read_csv(curve)[names].equals(before)


def test_an_infinite_gradient_is_a_divergence_with_its_update(
    uninterrupted: Trained, prepared_text: Path, tmp_path: Path
) -> None:
    before, run = uninterrupted
    folder = shutil.copytree(before, tmp_path / "copy")
    checkpoints = state_of(folder, run) / "checkpoints"
    for path in checkpoints.glob("*_12.pt"):
        path.unlink()
    record = state_of(folder, run) / "record.jsonl"
    record.write_text("".join(line for line in record.read_text().splitlines(True) if '"updates": 12,' not in line))
    newest = next(checkpoints.glob("checkpoint_*_9.pt"))
    broken = torch.load(newest, weights_only=False)
    broken["model"]["encoder.sentence_encoder.layers.0.fc2.weight"].fill_(math.inf)
    torch.save(broken, newest)
    finish(folder, run, prepared_text)
    assert metrics(folder, run)["diverged"] == {"update": 10, "reason": "a gradient is not finite"}
    assert metrics(folder, run)["updates"] == 9
