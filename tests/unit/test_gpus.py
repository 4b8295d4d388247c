"""Computations on GPUs, as far as they can be tested without one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from fairseq import tasks
from fairseq.logging import metrics
from torch import Tensor, nn

from preln.commands import plan
from preln.config import Execution, Study, validate
from preln.errors import PrelnError
from preln.fairseq_plugin import decoding, launch, options
from preln.fairseq_plugin.launch import Assignment, configuration
from preln.fairseq_plugin.probe import Probe
from preln.jobs.checking import check
from preln.pretraining import finetuning, runs
from preln.pretraining import training as pretraining
from preln.records.files import write_json, write_sealed
from preln.theory import measurement_jobs, measuring, trace_jobs
from preln.training import machine
from preln.training.state import RunState
from preln.translation import training
from preln.translation.runs import expand
from tests.conftest import RUN, bert_content, settings, study_content
from tests.made_up.theory import small_study

pytestmark = pytest.mark.slow

ONE: dict[str, Any] = {"execution": {"gpus": 1}}


def trained(folder: Path, prepared: Path, text: Path, task: Path) -> None:
    study = validate(study_content(**ONE), "study")
    training.train_run(study, expand(study)[0], prepared, folder)


def pretrained(folder: Path, prepared: Path, text: Path, task: Path) -> None:
    study = validate(bert_content(**ONE), "study")
    pretraining.pretrain_run(study, runs.expand(study)[0], text, folder)


def finetuned(folder: Path, prepared: Path, text: Path, task: Path) -> None:
    study = validate(bert_content(**ONE), "study")
    job = runs.finetunings(study)[0]
    write_json(folder / job.run.id / "metrics.json", {"diverged": {"update": 1}, "updates": 0})
    finetuning.finetune(study, job, text, task, folder, folder / "scores")


def measured(folder: Path, prepared: Path, text: Path, task: Path) -> None:
    content = study_content({"placement": "post"}, **ONE)
    named = expand(validate(content, "study"))[0].id
    study = validate({**content, "theory": {"seeds": 2, "gradients": {"runs": [named], "depths": [1]}}}, "study")
    part = next(
        part for part in measurement_jobs.expand(study, expand(study)) if isinstance(part, measurement_jobs.GradientJob)
    )
    measuring.measure(study, part, prepared, folder, folder)


def traced(folder: Path, prepared: Path, text: Path, task: Path) -> None:
    study = validate(study_content(**ONE, first_updates={"settings": RUN, "runs": [{}]}), "study")
    measuring.trace_run(study, trace_jobs.expand(study)[0], prepared, folder)


@pytest.mark.parametrize("computed", [trained, pretrained, finetuned, measured, traced])
def test_whatever_computes_on_a_gpu_claims_it_before_anything_else(
    computed: Callable[[Path, Path, Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    prepared: Path,
    prepared_text: Path,
    prepared_task: Path,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(machine, "shown_gpus", lambda: [])
    with pytest.raises(PrelnError, match=r"asks for 1 GPU\(s\) .* and this one shows 0"):
        computed(tmp_path, prepared, prepared_text, prepared_task)
    assert not list(tmp_path.rglob("attempts.jsonl"))


def test_the_model_of_the_proofs_is_measured_without_a_gpu_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "a GPU")
    study, _ = small_study(**ONE)
    part = next(part for part in measurement_jobs.expand(study, expand(study)) if part.id == "exact-depths")
    measuring.measure(study, part, None, tmp_path, tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["hardware"]["gpus"] == []


def small_training(prepared: Path, state: Path) -> list[str]:
    return options.translation(settings(), prepared / "binary", prepared / "text", ("de", "en"), state, Execution())


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
            launch.work(Assignment(small_training(prepared, tmp_path), "fp32", str(tmp_path), cpus=1))
        else:
            Probe(settings(), prepared / "binary", prepared / "text", ("de", "en"), Execution())
            seen.append(set_up())
    finally:
        torch.backends.cuda.enable_cudnn_sdp(by_cudnn)
        torch.set_float32_matmul_precision(precision)
    assert seen == [(False, "highest")]


@pytest.fixture
def own_metrics() -> Iterator[None]:
    """fairseq's metrics, which are of the whole process, without those of other tests; they are left as empty."""
    metrics.reset()
    yield
    metrics.reset()


@pytest.mark.usefixtures("own_metrics")
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_translations_are_made_in_fp32(precision: torch.dtype, prepared: Path, tmp_path: Path) -> None:
    cfg = configuration(small_training(prepared, tmp_path), "fp32")
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
    task = tasks.setup_task(configuration(small_training(prepared, tmp_path), "fp32").task)

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


# One of two processes that share a training, each on the only GPU of a node of its own.
PROCESS = """
import json, os, sys
import torch
from pathlib import Path
from preln.fairseq_plugin import launch

torch.cuda.get_device_name = lambda: f"NVIDIA H100 of node {os.environ['RANK']}"
launch.fairseq_main = lambda cfg: None
launch.work(launch.Assignment(**json.loads(Path(sys.argv[1]).read_text())), is_one_of_several=True)
"""


def test_slurm_is_asked_for_a_process_on_each_gpu_of_each_node() -> None:
    execution = Execution(nodes=2, gpus=4, cpus=3)
    assert launch._srun(execution) == [
        "srun",
        "--nodes=2",
        f"--ntasks={execution.workers}",
        f"--ntasks-per-node={execution.on_each_node}",
        "--cpus-per-task=3",
        "--overlap",
        "--kill-on-bad-exit=1",
        f"--gres=gpu:{execution.on_each_node}",
    ]
    assert not any(argument.startswith("--gres") for argument in launch._srun(Execution(nodes=2, processes=4)))


@pytest.fixture
def two_nodes(tmp_path: Path) -> tuple[Study, dict[str, Any]]:
    """A study whose pre-training two nodes began, and the origin that it tells."""
    study = validate(bert_content({"accumulate": 2}), "study")
    run = runs.expand(study)[0]
    state = RunState(tmp_path / "state")
    state.begin(Execution(processes=2), updates_before=0)
    arguments = options.pretraining(run.settings, tmp_path, state.folder, [], Execution(processes=2))
    # Of what is for CPUs it keeps what lets processes speak without GPUs.
    assignment = Assignment(
        [argument for argument in arguments if argument != "--cpu"], "fp32", str(state.folder), cpus=1
    )
    write_json(tmp_path / "assignment.json", asdict(assignment))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
    command = [sys.executable, "-c", PROCESS, str(tmp_path / "assignment.json")]
    processes = [subprocess.Popen(command, env={**os.environ, **told, "RANK": rank}) for rank in "01"]
    assert [process.wait() for process in processes] == [0, 0]
    return study, state.origin(study, run.id, run.identity)


def test_a_record_names_the_gpus_of_all_nodes_and_plan_divides_its_speed_by_them(
    two_nodes: tuple[Study, dict[str, Any]], tmp_path: Path
) -> None:
    study, origin = two_nodes
    assert origin["hardware"]["gpus"] == ["NVIDIA H100 of node 0", "NVIDIA H100 of node 1"]
    assert origin["attempts"][-1]["hardware"] == origin["hardware"]
    folder = tmp_path / "results" / study.study / "pretraining" / origin["id"]
    write_sealed(folder / "run.json", origin)
    pd.DataFrame({"tokens_per_second": [3000.0]}).to_csv(folder / "curve.csv", index=False)
    first = plan.items(check(study.model_dump(), "study"), plan.GPUS["h100"], tmp_path)[0]
    assert first.estimate.tokens and first.hours == pytest.approx(first.estimate.tokens / 1500 / 3600)
