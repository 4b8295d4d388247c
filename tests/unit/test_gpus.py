"""What a computation does on GPUs, as far as it can be seen without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from preln import attempts, machine
from preln.config import validate
from preln.files import write_json
from preln.machine import MachineRefused
from preln.pretraining import finetuning, runs
from preln.pretraining import training as pretraining
from preln.runs import expand
from preln.theory import measuring, parts
from preln.translation import training
from tests.conftest import bert_content, study_content

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
    part = next(part for part in parts.expand(study, expand(study)) if isinstance(part, parts.GradientPart))
    measuring.measure_part(study, part, prepared, folder, folder)


@pytest.mark.parametrize("computed", [trained, pretrained, finetuned, measured])
def test_whatever_computes_on_a_gpu_claims_it_before_anything_else(
    computed: Callable[[Path, Path, Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    prepared: Path,
    prepared_text: Path,
    prepared_task: Path,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(machine, "shown_gpus", lambda: [])
    with pytest.raises(MachineRefused, match=r"asks for 1 GPU\(s\) .* and this one shows 0"):
        computed(tmp_path, prepared, prepared_text, prepared_task)
    assert not list(tmp_path.rglob(attempts.ATTEMPTS))


def test_the_model_of_the_proofs_is_measured_without_a_gpu_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "a GPU")
    exact = {"width": 16, "depth": 2, "depths": [1, 2, 3], "widths": [8, 12, 16], "length": 4}
    study = validate(study_content(**ONE, theory={"seeds": 2, "exact": exact}), "study")
    part = next(part for part in parts.expand(study, expand(study)) if part.id == "exact-depths")
    measuring.measure_part(study, part, None, tmp_path, tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["hardware"]["gpus"] == []
