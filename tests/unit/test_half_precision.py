"""A training in bf16 or fp16 goes on as if it had never stopped, keeps its weights in fp32, and outlives overflows."""

import json
import logging
import math
import multiprocessing
import os
import re
import shutil
import signal
from collections.abc import Callable, Container, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo  # The optimizers import it, which takes seconds; here it is there before processes begin.
from fairseq.optim.dynamic_loss_scaler import DynamicLossScaler
from fairseq.optim.fp16_optimizer import FP16Optimizer

from preln.config import Execution, GridPoint, PretrainingSettings
from preln.fairseq_plugin import launch, options
from preln.fairseq_plugin.checkpoints import STATE_KEY, allow_settings, kept_weights, newest_checkpoint
from preln.fairseq_plugin.masked_lm import weights_name
from preln.fairseq_plugin.recorded_task import RecordedTask
from preln.fairseq_plugin.sentence_prediction import SCORES
from preln.fairseq_plugin.translation import AFTER_WARMUP_WEIGHTS
from preln.records.files import read_json_lines, read_sealed
from preln.training.state import RunState
from preln.training.validations import read_validations
from preln.translation.curve import read_epochs
from tests import conftest

pytestmark = pytest.mark.slow

TIMES = {"tokens_per_second", "seconds", "valid_seconds", "test_seconds"}
UPDATES, KEPT = 9, (0, 4, 9)
BATCHES, WARMUP = 10, 8
"""Batches of an epoch of the translation, and updates of its warm-up."""

Start = Callable[[Path], None]
"""Trains in the folder of a state, or goes on there."""
StartOf = Callable[[str, str], Start]
"""The training of a kind in a precision."""
Uninterrupted = Callable[[str, str], Path]
"""The state of such a training that nothing stopped."""


@pytest.fixture(scope="module", autouse=True)
def fp16_on_a_cpu() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # fairseq keeps the masters of a device's weights in one tensor, by the device's number, which a CPU has not.
        patch.setattr(torch.cuda, "current_device", lambda: None)
        patch.setattr(torch.Tensor, "cuda", lambda tensor: tensor)
        yield


def in_a_process(work: Callable[[], None]) -> int | None:
    """How a process of its own ends, which begins as a copy of this one: what it is killed with is negative."""

    def logged() -> None:
        # fairseq sets the level itself where nobody has configured logging, which pytest has.
        logging.getLogger().setLevel(logging.INFO)
        work()

    process = multiprocessing.get_context("fork").Process(target=logged)
    process.start()
    process.join()
    return process.exitcode


def translating(prepared: Path, precision: Any) -> Start:
    run = conftest.settings(precision=precision, epochs=2, batch_tokens=3000, warmup=WARMUP, bleu_sentences=2)
    execution = Execution(log_interval=1)

    def start(state: Path) -> None:
        folders = (prepared / "binary", prepared / "text", ("de", "en"), state)
        launch.train(options.translation(run, *folders, execution), precision, RunState(state), execution)

    return start


def pretraining(prepared: Path, precision: Any) -> Start:
    run = PretrainingSettings.model_validate({**conftest.PRETRAINING, "precision": precision, "updates": UPDATES})
    execution = Execution(log_interval=1)

    def start(state: Path) -> None:
        # fairseq would train a run that is at its end for one more update.
        if not list(state.glob(f"checkpoints/checkpoint_*_{run.updates}.pt")):
            arguments = options.pretraining(run, prepared / "binary", state, KEPT, execution)
            launch.train(arguments, precision, RunState(state), execution)

    return start


def overflowing(start: Start, attempts: Container[int], window: int = 100) -> Start:
    """A training in fp16 whose gradient overflows at some of its attempts at an update, counted from 1, and whose loss
    scale grows again after a `window` of those that do not."""

    def begin(state: Path) -> None:
        check = DynamicLossScaler.check_overflow

        def overflow(scaler: DynamicLossScaler, norm: torch.Tensor) -> None:
            scaler.scale_window = window
            check(scaler, norm * math.inf if scaler._iter + 1 in attempts else norm)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DynamicLossScaler, "check_overflow", overflow)
            start(state)

    return begin


def whole(start: Start, state: Path) -> Path:
    """The state of a training that nothing stops."""
    state.mkdir(exist_ok=True)
    assert in_a_process(lambda: start(state)) == 0
    return state


def losses(state: Path) -> dict[int, tuple[str, ...]]:
    """The loss, the gradient's norm and the loss scale that the log has for each update."""
    lines = map(json.loads, re.findall(r'\{"epoch": [^{}]*"ups": [^{}]*\}', (state / "training.log").read_text()))
    return {
        int(line["num_updates"]): tuple(line.get(key, "") for key in ("loss", "gnorm", "lr", "loss_scale"))
        for line in lines
        if "update" in line
    }


def left(state: Path) -> dict[str, Any]:
    """All that a training leaves but times: its record, its losses, its kept weights, and its last weights, with which
    and the optimizer's moments another update would begin."""
    newest = newest_checkpoint(state / "checkpoints")
    assert newest is not None
    allow_settings()
    last = torch.load(newest, weights_only=True)
    run_state = RunState(state)
    read = read_epochs if "part" in run_state.entries()[0] else read_validations
    return {
        "record": read(run_state),
        "losses": losses(state),
        "kept": {path.name: torch.load(path, weights_only=True) for path in sorted(state.glob("[!.]*.pt"))},
        "weights": last["model"],
        "optimizer": last["last_optimizer_state"],
        "task": {key: value for key, value in last["extra_state"].items() if key.startswith("Recorded")},
    }


def require_equal(actual: Any, expected: Any, where: str = "") -> None:
    """Bit by bit, but for times and the name of the state."""
    if isinstance(expected, torch.Tensor):
        assert actual.dtype == expected.dtype and torch.equal(actual, expected), where
    elif isinstance(expected, dict):
        assert actual.keys() == expected.keys(), where
        for key in sorted(expected.keys() - TIMES - {STATE_KEY}, key=str):
            require_equal(actual[key], expected[key], f"{where}/{key}")
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected), where
        for number, pair in enumerate(zip(actual, expected, strict=True)):
            require_equal(*pair, f"{where}/{number}")
    else:
        assert actual == expected, where


def pass_points(start: Start, state: Path, at: Callable[[int], None]) -> None:
    """Train, and call `at` with the number of each point that is passed: before and after each update, each row of the
    record, and each file of weights, be it a checkpoint or kept."""
    numbers = count(1)

    def around(owner: Any, name: str, patch: pytest.MonkeyPatch) -> None:
        original = getattr(owner, name)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            at(next(numbers))
            result = original(*arguments, **options)
            at(next(numbers))
            return result

        patch.setattr(owner, name, wrapped)

    with pytest.MonkeyPatch.context() as patch:
        around(FP16Optimizer, "step", patch)
        around(RecordedTask, "record", patch)
        around(torch, "save", patch)
        start(state)


def killed(start: Start, state: Path, point: int) -> None:
    """Train, and be killed at a point, by the number that it has from where the training goes on."""

    def kill(number: int) -> None:
        if number == point:
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_process(lambda: pass_points(start, state, kill)) in (0, -signal.SIGKILL)


@pytest.fixture(scope="module")
def start_of(prepared: Path, prepared_text: Path) -> StartOf:
    def start(kind: str, precision: str) -> Start:
        of = translating(prepared, precision) if kind == "translation" else pretraining(prepared_text, precision)
        return overflowing(of, {2, 6, 7, 11}, window=3) if precision == "fp16" else of

    return start


@pytest.fixture(scope="module")
def uninterrupted(start_of: StartOf, tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    @cache
    def state(kind: str, precision: str) -> Path:
        return whole(start_of(kind, precision), tmp_path_factory.mktemp(f"{kind} {precision}"))

    return state


KINDS = pytest.mark.parametrize(("kind", "precision"), [("translation", "fp16"), ("pretraining", "bf16")])


@KINDS
def test_a_training_that_is_killed_anywhere_ends_as_an_uninterrupted_one(
    kind: str, precision: str, start_of: StartOf, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    for point in (5, 14, 23):
        killed(start_of(kind, precision), tmp_path, point)
    whole(start_of(kind, precision), tmp_path)
    require_equal(left(tmp_path), left(uninterrupted(kind, precision)))


@KINDS
def test_a_training_that_is_told_to_stop_ends_as_an_uninterrupted_one(
    kind: str, precision: str, start_of: StartOf, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    def tell(number: int) -> None:
        # Between two validations, so that a stretch of the record has a part before and one after.
        if number == 8:
            os.kill(os.getpid(), signal.SIGTERM)

    assert in_a_process(lambda: pass_points(start_of(kind, precision), tmp_path, tell)) == 1
    whole(start_of(kind, precision), tmp_path)
    require_equal(left(tmp_path), left(uninterrupted(kind, precision)))


def require_kept_masters(state: Path) -> torch.Tensor:
    """The weights that are kept after the last update are the masters of its checkpoint, which are returned."""
    allow_settings()
    (last,) = state.glob(f"checkpoints/checkpoint_*_{UPDATES}.pt")
    saved = torch.load(last, weights_only=True)["extra_state"]["RecordedMaskedLM"]["half_precision"]["masters"]
    masters = torch.cat([master.flatten() for master in saved])
    assert {path.name for path in state.glob("weights-*.pt")} == set(map(weights_name, KEPT))
    kept = kept_weights(state / weights_name(UPDATES))
    assert all(value.dtype == torch.float32 for value in kept.values() if value.is_floating_point())
    # A weight that is shared has several names.
    weights = {value.data_ptr(): value for name, value in kept.items() if not name.endswith(".version")}.values()
    assert torch.equal(torch.cat([weight.flatten() for weight in weights]), masters)
    return masters


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_kept_weights_are_the_masters_in_fp32(precision: str, uninterrupted: Uninterrupted) -> None:
    masters = require_kept_masters(uninterrupted("pretraining", precision))
    half = torch.bfloat16 if precision == "bf16" else torch.float16
    assert not torch.equal(masters, masters.to(half).float())


def test_a_checkpoint_without_masters_is_refused_and_what_it_is_of_stays(
    start_of: StartOf, uninterrupted: Uninterrupted, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / uninterrupted("translation", "bf16").name
    shutil.copytree(uninterrupted("translation", "bf16"), state)
    *_, first, last = sorted(state.glob("checkpoints/checkpoint*[0-9].pt"))
    last.unlink()
    allow_settings()
    saved = torch.load(first, weights_only=True)
    (of_task,) = (value for key, value in saved["extra_state"].items() if key.startswith("Recorded"))
    del of_task["half_precision"]
    torch.save(saved, first)
    before = {path: path.read_bytes() for path in state.glob("*.pt")}
    assert in_a_process(lambda: start_of("translation", "bf16")(state)) == 1
    assert f"{state}: its newest checkpoint" in capfd.readouterr().err
    assert {path: path.read_bytes() for path in state.glob("*.pt")} == before


def record_of_updates(state: Path) -> list[int]:
    """The numbers of updates in the record; nothing else in it is missing either."""
    record = read_json_lines(state / "record.jsonl")
    assert all(value is not None and value == value for row in record for value in row.values())
    return [row["updates"] for row in record if "updates" in row]


def test_overflows_of_a_translation_cost_an_update_each_and_no_record(prepared: Path, tmp_path: Path) -> None:
    # The update that ends the warm-up overflows, and the last one.
    state = whole(overflowing(translating(prepared, "fp16"), {WARMUP, 2 * BATCHES}), tmp_path)
    assert record_of_updates(state) == [BATCHES - 1, 2 * BATCHES - 2]
    assert list(read_epochs(RunState(state))) == [1, 2]
    assert (state / AFTER_WARMUP_WEIGHTS).exists()


def test_overflows_before_each_update_of_a_pretraining_cost_neither_an_update_nor_a_record(
    prepared_text: Path, tmp_path: Path
) -> None:
    state = whole(overflowing(pretraining(prepared_text, "fp16"), range(1, 100, 2)), tmp_path)
    assert record_of_updates(state) == [3, 6, 9]
    assert list(losses(state)) == list(range(1, UPDATES + 1))
    require_kept_masters(state)


def test_an_epoch_that_overflows_throughout_is_recorded_without_a_loss(prepared: Path, tmp_path: Path) -> None:
    state = whole(overflowing(translating(prepared, "fp16"), range(1, BATCHES + 1)), tmp_path)
    first, second = read_epochs(RunState(state)).values()
    assert (first["updates"], second["updates"]) == (0, BATCHES)
    assert first["train_loss"] is None
    assert first["valid_loss"] > 0
    assert second["train_loss"] > 0


def test_a_gradient_that_overflows_at_every_scale_is_a_divergence(prepared_text: Path, tmp_path: Path) -> None:
    state = whole(overflowing(pretraining(prepared_text, "fp16"), range(5, 100)), tmp_path)
    assert read_sealed(state / "diverged.json")["update"] == 5
    assert record_of_updates(state) == [3]


def test_a_fine_tuning_of_which_an_update_overflows_is_scored(
    prepared_task: Path, uninterrupted: Uninterrupted, tmp_path: Path
) -> None:
    run = PretrainingSettings.model_validate({**conftest.PRETRAINING, "precision": "fp16"})
    point = GridPoint(batch_size=16, learning_rate=1e-3, epochs=2)
    weights = uninterrupted("pretraining", "fp16") / weights_name(UPDATES)

    def start(state: Path) -> None:
        updates = point.epochs * math.ceil(conftest.TASK["pairs"] / point.batch_size)
        arguments = options.finetuning(run, point, 1, updates, weights, prepared_task / "binary", state, Execution())
        launch.train(arguments, "fp16", RunState(state), Execution())

    state = whole(overflowing(start, {3}), tmp_path)
    assert json.loads((state / SCORES).read_text())["pairs"] == conftest.TASK["dev"]
