"""Computations on GPUs, as far as they can be tested without one."""

import json
import multiprocessing
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import tasks
from fairseq.logging import metrics
from torch import Tensor, nn

from preln.config import Execution, validate
from preln.errors import PrelnError
from preln.fairseq_plugin import decoding, launch, options
from preln.fairseq_plugin.launch import configuration
from preln.jobs.checking import check
from preln.pretraining import finetuning, runs
from preln.records.files import write_json
from preln.theory import measurement_jobs, measuring
from preln.training import machine
from preln.training.state import RunState
from preln.translation import training
from tests.conftest import bert_content, every_kind, settings
from tests.made_up.theory import small_study
from tests.models import options_of, probe

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["translation", "finetuning", "theory"])
def test_whatever_computes_on_a_gpu_claims_it_before_anything_else(
    kind: str, monkeypatch: pytest.MonkeyPatch, prepared: Path, prepared_text: Path, prepared_task: Path, tmp_path: Path
) -> None:
    checked = check(every_kind(execution={"gpus": 1}), "study")
    study, folder = checked.study, tmp_path
    job = next(job for job in checked.jobs[kind] if job.execution.gpus)
    diverged = {"diverged": {"update": 1}, "updates": 0}
    write_json(folder / checked.jobs["pretraining"][0].id / "metrics.json", diverged)
    compute: dict[str, Callable[[], None]] = {
        "translation": lambda: training.train_run(study, job, prepared, folder),
        "finetuning": lambda: finetuning.finetune(study, job, prepared_text, prepared_task, folder, folder / "scores"),
        "theory": lambda: measuring.measure(study, job, prepared, folder, folder),
    }
    monkeypatch.setattr(machine, "shown_gpus", lambda: [])
    with pytest.raises(PrelnError, match=r"asks for 1 GPU\(s\) .* and this one shows 0"):
        compute[kind]()
    assert not list(tmp_path.rglob("attempts.jsonl"))


def test_the_model_of_the_proofs_says_that_it_uses_no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "a GPU")
    study, _ = small_study(execution={"gpus": 1})
    part = next(part for part in measurement_jobs.expand(study) if part.id == "exact-depths")
    measuring.measure(study, part, None, tmp_path, tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["hardware"]["gpus"] == []


def set_up() -> tuple[bool, str]:
    """True if torch takes cuDNN's attention, and the precision of its products."""
    by_cudnn: bool = torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
    return by_cudnn, torch.get_float32_matmul_precision()


@pytest.mark.parametrize("computed", ["a training", "a probe"])
def test_what_computes_has_no_attention_by_cudnn_and_no_tf32(
    computed: str, prepared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    by_cudnn, precision = set_up()
    # As others may have set torch up.
    torch.backends.cuda.enable_cudnn_sdp(True)
    torch.set_float32_matmul_precision("high")
    seen: list[tuple[bool, str]] = []
    monkeypatch.setattr(launch, "fairseq_main", lambda cfg: seen.append(set_up()))
    try:
        if computed == "a training":
            launch.work(options_of(settings(), prepared, tmp_path), "fp32", str(tmp_path), cpus=1)
        else:
            probe(settings(), prepared)
            seen.append(set_up())
    finally:
        torch.backends.cuda.enable_cudnn_sdp(by_cudnn)
        torch.set_float32_matmul_precision(precision)
    assert seen == [(False, "highest")]


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_translations_are_made_in_fp32(
    precision: torch.dtype, prepared: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # fairseq's metrics are of the whole process.
    metrics.reset()
    request.addfinalizer(metrics.reset)
    cfg = configuration(options_of(settings(), prepared, tmp_path), "fp32")
    task = tasks.setup_task(cfg.task)
    model = task.build_model(cfg.model).to(precision)
    translators: list[nn.Module] = []
    task._translate = lambda subset, epoch, translator: translators.append(translator)
    with metrics.aggregate("train", new_root=True):
        for name in ("num_updates", "loss", "nll_loss", "lr", "gnorm", "wps", "train_wall"):
            metrics.log_scalar(name, 1.0)
        task.begin_valid_epoch(1, model)
    assert len(translators) == 2
    for translator in translators:
        assert not translator.training
        for made, kept in zip(translator.parameters(), model.parameters(), strict=True):
            assert (made.dtype, kept.dtype) == (torch.float32, precision)
            assert torch.equal(made, kept.float())


def test_sentences_that_do_not_fit_into_a_gpus_memory_are_translated_in_halves(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = tasks.setup_task(configuration(options_of(settings(), prepared, tmp_path), "fp32").task)

    def search(model: Any, source: Tensor, lengths: Tensor, *rest: Any) -> list[list[int]]:
        if len(source) > 2:
            raise torch.OutOfMemoryError
        return [[int(number)] for number in lengths]

    monkeypatch.setattr(decoding, "translate", search)
    source, lengths = torch.zeros(7, 3), torch.arange(7)
    assert task._searched(None, source, lengths) == [[number] for number in range(7)]
    monkeypatch.setattr(decoding, "translate", lambda *arguments: search(None, torch.zeros(3, 1), lengths))
    with pytest.raises(torch.OutOfMemoryError):
        task._searched(None, source, lengths)


def test_slurm_is_asked_for_a_process_on_each_gpu_of_each_node() -> None:
    on_gpus, on_cpus = launch._srun(Execution(nodes=2, gpus=4, cpus=3)), launch._srun(Execution(nodes=2, processes=4))
    assert {"--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--cpus-per-task=3", "--gres=gpu:2"} <= set(on_gpus)
    # A step inside the job's own allocation, which ends as a whole.
    assert {"--overlap", "--kill-on-bad-exit=1"} <= set(on_gpus) & set(on_cpus)
    assert not any(argument.startswith("--gres") for argument in on_cpus)


def test_a_record_names_the_gpus_of_all_nodes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = validate(bert_content({"accumulate": 2}), "study")
    run = runs.expand(study)[0]
    state = RunState(tmp_path / "state")
    state.begin(Execution(processes=2), updates_before=0)
    arguments = options.pretraining(run.settings, tmp_path, state.folder, [], Execution(processes=2))
    # The other options for CPUs stay, with which processes speak without GPUs.
    arguments.remove("--cpu")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "LOCAL_RANK": "0"}

    def share(rank: int) -> None:
        """As one of two processes, each on the only GPU of a node of its own."""
        os.environ.update(told, RANK=str(rank))
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda: f"NVIDIA H100 of node {rank}")
        monkeypatch.setattr(launch, "fairseq_main", lambda cfg: None)
        launch.work(arguments, "fp32", str(state.folder), cpus=1, is_one_of_several=True)

    processes = [multiprocessing.get_context("fork").Process(target=share, args=(rank,)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    origin = state.origin(study, run.id, run.identity)
    assert origin["hardware"]["gpus"] == ["NVIDIA H100 of node 0", "NVIDIA H100 of node 1"]
    assert origin["attempts"][-1]["hardware"] == origin["hardware"]
