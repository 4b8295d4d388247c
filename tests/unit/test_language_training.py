"""A language model's training: its records, its exact continuation, its divergence, its optimizers."""

import math
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from preln.config import Study, validate, write
from preln.errors import PrelnError
from preln.fairseq_plugin.log import newest_progress
from preln.language import trainer
from preln.language.model import LanguageModel
from preln.language.runs import LanguageRun, expand
from preln.language.trainer import Diverged, Trainer
from preln.language.training import CheckpointRefused, state_of, train_run, trained_weights
from preln.records import recording
from preln.records.files import append_json, read_json_lines, write_json_lines
from preln.records.recording import Record
from preln.training.interruption import Interrupted
from tests.conftest import language_content, language_settings
from tests.made_up.language import small_text
from tests.moments import NewHold, before_file, wait
from tests.trainings import TIMES, curve_without_times, finish, kill_at, logged, start

pytestmark = pytest.mark.numbers


def study_of(execution: dict[str, Any] | None = None, **changes: Any) -> tuple[Study, LanguageRun]:
    content = language_content(changes, execution={"log_interval": 1, **(execution or {})})
    study = validate(content, "study.yaml")
    return study, expand(study)[0]


Trained = tuple[Study, LanguageRun, Path]


def weights(folder: Path, update: int) -> dict[str, torch.Tensor]:
    (path,) = folder.glob(f"state/*/checkpoints/checkpoint_{update}.pt")
    state: dict[str, torch.Tensor] = torch.load(path, weights_only=True)["trainer"]["model"]
    return state


def crash() -> None:
    raise MemoryError


def interrupted(number: int, how: Callable[[], None] = crash) -> Any:
    """A context in which a training calls `how` in update `number`."""
    update = Trainer.update

    def updated(self: Trainer) -> tuple[float, float]:
        if self.done == number - 1:
            how()
        return update(self)

    return mock.patch.object(Trainer, "update", updated)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, prepared_tokens: Path) -> Trained:
    study, run = study_of()
    folder = tmp_path_factory.mktemp("trained")
    train_run(study, run, prepared_tokens, folder)
    return study, run, folder


def test_it_learns_and_records_each_validation_and_where_it_came_from_and_its_log_tells_its_progress(
    trained: Trained, prepared_tokens: Path
) -> None:
    _, run, folder = trained
    curve = pd.read_csv(folder / "curve.csv")
    assert curve["updates"].tolist() == [3, 6, 9, 12]
    assert curve.notna().all(axis=None)
    assert curve["valid_loss"].is_monotonic_decreasing
    metrics = recording.read_metrics(folder)
    assert (metrics["status"], metrics["updates"]) == ("finished", 12)
    assert 0 < metrics["unigram_baseline"] < math.log2(run.vocabulary)
    assert Record(run, folder).is_current
    latest = newest_progress(state_of(run, prepared_tokens, folder).log)
    assert latest is not None
    assert latest.updates == 12
    assert min(latest.loss, latest.updates_per_second, latest.tokens_per_second) > 0
    record = recording.read(folder / recording.RUN)
    assert record["id"] == run.id
    assert record["versions"]["torch"] == torch.__version__
    assert record["text"]["parts"]["train"]["documents"] == 199
    assert [attempt["updates_before"] for attempt in record["attempts"]] == [0]


def test_a_finished_training_is_not_trained_again(trained: Trained, prepared_tokens: Path) -> None:
    study, run, folder = trained
    before = {name: (folder / name).read_bytes() for name in run.records}
    with interrupted(1):
        train_run(study, run, prepared_tokens, folder)
    assert {name: (folder / name).read_bytes() for name in run.records} == before


@pytest.mark.slow
@pytest.mark.parametrize("killed", [2, 8])
@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "fp32", "dropout": 0.1},
        {"precision": "bf16", "optimizer": "muon", "accumulate": 2},
        {"placement": "admin", "optimizer": "radam", "schedule": "cosine", "tokens": "bytes", "clip_norm": 0.5},
    ],
    ids=lambda changes: "-".join(map(str, changes.values())),
)
def test_a_training_that_was_killed_ends_as_one_that_was_not(
    changes: dict[str, Any], killed: int, tmp_path: Path, prepared_tokens: Path
) -> None:
    study, run = study_of(**changes)
    train_run(study, run, prepared_tokens, tmp_path / "whole")
    with interrupted(killed), pytest.raises(MemoryError):
        train_run(study, run, prepared_tokens, tmp_path / "killed")
    train_run(study, run, prepared_tokens, tmp_path / "killed")
    assert curve_without_times(tmp_path / "killed") == curve_without_times(tmp_path / "whole")
    torch.testing.assert_close(weights(tmp_path / "killed", 12), weights(tmp_path / "whole", 12), rtol=0, atol=0)
    attempts = recording.read(tmp_path / "killed" / recording.RUN)["attempts"]
    assert [attempt["updates_before"] for attempt in attempts] == [0, killed // 3 * 3]


def test_a_signal_stops_it_after_a_saved_update(trained: Trained, tmp_path: Path, prepared_tokens: Path) -> None:
    study, run, whole = trained
    asked = interrupted(5, lambda: os.kill(os.getpid(), signal.SIGTERM))
    with asked, pytest.raises(Interrupted, match="run the same command to continue"):
        train_run(study, run, prepared_tokens, tmp_path)
    assert weights(tmp_path, 5)
    train_run(study, run, prepared_tokens, tmp_path)
    assert curve_without_times(tmp_path) == curve_without_times(whole)


@pytest.fixture
def stopped(tmp_path: Path, prepared_tokens: Path) -> Path:
    """A training that was killed after update 10."""
    study, run = study_of()
    with interrupted(11), pytest.raises(MemoryError):
        train_run(study, run, prepared_tokens, tmp_path)
    return tmp_path


@pytest.mark.parametrize("lost", ["a damaged checkpoint", "a validation"])
def test_what_is_lost_is_trained_again(lost: str, stopped: Path, trained: Trained, prepared_tokens: Path) -> None:
    study, run, whole = trained
    if lost == "a validation":
        record = state_of(run, prepared_tokens, stopped).record
        write_json_lines(record, [line for line in read_json_lines(record) if line["updates"] != 9])
    else:
        (newest,) = stopped.glob("state/*/checkpoints/checkpoint_9.pt")
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
    train_run(study, run, prepared_tokens, stopped)
    assert recording.read(stopped / recording.RUN)["attempts"][-1]["updates_before"] == 6
    assert curve_without_times(stopped) == curve_without_times(whole)


def test_a_missing_last_checkpoint_is_made_again(trained: Trained, tmp_path: Path, prepared_tokens: Path) -> None:
    study, run, whole = trained
    again = shutil.copytree(whole, tmp_path / "again")
    (last,) = again.glob("state/*/checkpoints/checkpoint_12.pt")
    last.unlink()
    train_run(study, run, prepared_tokens, again)
    torch.testing.assert_close(weights(again, 12), weights(whole, 12), rtol=0, atol=0)
    assert curve_without_times(again) == curve_without_times(whole)


def test_weights_without_the_prepared_text_are_refused(trained: Trained, tmp_path: Path) -> None:
    _, run, folder = trained
    with pytest.raises(PrelnError, match="not there"):
        trained_weights(run, tmp_path, folder)


def test_a_checkpoint_of_another_run_is_refused(stopped: Path, prepared_tokens: Path) -> None:
    study, run = study_of(seed=2)
    state = state_of(run, prepared_tokens, stopped)
    state.checkpoints.mkdir(parents=True)
    (foreign,) = stopped.glob("state/*/checkpoints/checkpoint_9.pt")
    shutil.copyfile(foreign, state.checkpoints / foreign.name)
    for update in (3, 6, 9):
        append_json(state.record, {"updates": update})
    with pytest.raises(CheckpointRefused, match="belongs to another run"):
        train_run(study, run, prepared_tokens, stopped)


def test_a_divergence_is_a_result(tmp_path: Path, prepared_tokens: Path) -> None:
    study, run = study_of(learning_rate=10, optimizer="adam")
    for _ in range(2):
        train_run(study, run, prepared_tokens, tmp_path)
        metrics = recording.read_metrics(tmp_path)
        assert metrics["status"] == "diverged"
        assert metrics["diverged"]["update"] == 2
        assert "the training loss is" in metrics["diverged"]["reason"]
    assert len(recording.read(tmp_path / recording.RUN)["attempts"]) == 1


def test_initial_weights_are_drawn_before_the_model_is_on_its_device() -> None:
    """So that a seed has the same ones on every device."""
    model = mock.Mock()
    with mock.patch.multiple(LanguageModel, initialise=model.initialise, to=model.to):
        Trainer(language_settings(), small_text())
    assert [name for name, _, _ in model.mock_calls] == ["initialise", "to"]


def test_an_update_that_diverges_leaves_the_weights() -> None:
    training = Trainer(language_settings(), small_text())
    before = {name: weight.clone() for name, weight in training.model.state_dict().items()}
    with mock.patch.object(trainer, "LIMIT", 0.1), pytest.raises(Diverged):
        training.update()
    assert all(torch.equal(before[name], weight) for name, weight in training.model.state_dict().items())
    assert training.done == 0


def test_a_validation_that_is_not_finite_is_a_divergence_at_its_update() -> None:
    training = Trainer(language_settings(), small_text())
    training.update()
    with torch.no_grad():
        training.model.embedding.weight.fill_(math.nan)
    with pytest.raises(Diverged) as caught:
        training.validate()
    assert caught.value.update == 1


def test_batches_whose_gradients_make_an_update_are_one_large_batch() -> None:
    losses = []
    for shape in ({"batch_sequences": 8, "accumulate": 1}, {"batch_sequences": 2, "accumulate": 4}):
        training = Trainer(language_settings(**shape), small_text())
        losses.append([training.update() for _ in range(5)])
    torch.testing.assert_close(torch.tensor(losses[0]), torch.tensor(losses[1]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "radam", "muon"])
def test_an_optimizer_has_every_weight_once_and_lowers_the_loss(optimizer: str) -> None:
    rate = {"sgd": 0.3}.get(optimizer, 0.01)
    training = Trainer(
        language_settings(optimizer=optimizer, learning_rate=rate, warmup=2, weight_decay=0.01), small_text()
    )
    owned = [weight for part in training.optimizers for group in part.param_groups for weight in group["params"]]
    assert len(owned) == len(set(owned))
    assert set(owned) == set(training.model.parameters())
    first = training.validate()
    for _ in range(10):
        training.update()
    assert training.validate() < first


def test_vectors_do_not_decay() -> None:
    training = Trainer(language_settings(weight_decay=0.1), small_text())
    decay = {
        weight: group["weight_decay"] for group in training.optimizers[0].param_groups for weight in group["params"]
    }
    assert all(decay[weight] == (0.1 if weight.dim() > 1 else 0.0) for weight in training.model.parameters())


def test_clipping_bounds_the_gradient_and_the_norm_is_that_before() -> None:
    rates = {"optimizer": "sgd", "learning_rate": 1.0}
    free, clipped = (Trainer(language_settings(clip_norm=norm, **rates), small_text()) for norm in (0.0, 1e-3))
    before = parameters_to_vector(clipped.model.parameters())
    assert free.update()[1] == clipped.update()[1]
    after = parameters_to_vector(clipped.model.parameters())
    assert (after - before).norm().item() == pytest.approx(1e-3, rel=0.01)


@pytest.mark.slow
def test_a_process_that_is_killed_as_it_writes_a_checkpoint_goes_on(
    trained: Trained, tmp_path: Path, prepared_tokens: Path, hold: NewHold
) -> None:
    study, run, whole = trained
    write(study, tmp_path / "study.yaml")
    kill_at([before_file(r"checkpoint_6\.pt")], hold, tmp_path, run, prepared_tokens)
    finish(tmp_path, run, prepared_tokens)
    assert recording.read(tmp_path / run.id / recording.RUN)["attempts"][-1]["updates_before"] == 3
    assert curve_without_times(tmp_path / run.id) == curve_without_times(whole)


@pytest.mark.slow
def test_two_processes_train_as_one(tmp_path: Path, prepared_tokens: Path) -> None:
    curves = []
    for processes in (1, 2):
        study, run = study_of({"processes": processes}, accumulate=2)
        train_run(study, run, prepared_tokens, tmp_path / str(processes))
        curves.append(pd.read_csv(tmp_path / str(processes) / "curve.csv").drop(columns=TIMES))
    alone, together = curves
    pd.testing.assert_frame_equal(alone, together, rtol=1e-4)


@pytest.mark.slow
def test_a_signal_stops_two_processes_after_the_same_update(tmp_path: Path, prepared_tokens: Path) -> None:
    long: dict[str, Any] = {"accumulate": 2, "updates": 30_000, "validate_every": 30_000}
    study, run = study_of({"processes": 2}, **long)
    write(study, tmp_path / "study.yaml")
    process = start(tmp_path, run, prepared_tokens)
    wait(lambda: bool(list(tmp_path.glob("*/state/*/training.log"))))
    process.terminate()
    process.wait()
    assert "stopped on request, with a checkpoint" in logged(tmp_path / "output.log")
    (checkpoint,) = tmp_path.glob("*/state/*/checkpoints/checkpoint_*.pt")
    done = newest_progress(checkpoint.parents[1] / "training.log")
    assert done is not None
    assert checkpoint.stem == f"checkpoint_{done.updates}"
