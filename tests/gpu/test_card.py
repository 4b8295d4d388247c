"""A training on a GPU that is there: it ends as on a CPU, to a tolerance, interrupted or not."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml

from benchmarks.samples import batches, dictionaries
from benchmarks.training import translation_trainer
from preln.config import Execution, validate
from preln.fairseq_plugin.batches import Noted
from preln.fairseq_plugin.launch import set_up_cuda
from preln.runs import expand
from tests.conftest import study_content
from tests.moments import NewHold, in_epoch
from tests.unit.test_training import finish, kill_at

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU that PyTorch can use"),
]

GPUS = 1
PRECISIONS = {"fp32": 1e-3, "bf16": 3e-2, "fp16": 1e-2}
"""How far, relatively, a loss may lie from that of the CPU in fp32."""


def losses(precision: str, gpus: int, placement: str, updates: int = 12) -> list[float]:
    """The losses of a short training without dropout."""
    set_up_cuda()
    folder = dictionaries(500)
    small = {"encoder_layers": 2, "decoder_layers": 2, "width": 64, "ffn_width": 128, "heads": 2}
    changes = {**small, "placement": placement, "dropout": 0.0}
    trainer = translation_trainer("preln", changes, precision, folder, Execution(gpus=gpus))
    samples = [Noted(dict, 1)(sample) for sample in batches("tiny", folder)]
    logs = [trainer.train_step([samples[update % len(samples)]]) for update in range(updates)]
    # An update that overflows in fp16, as first ones do, has no log.
    return [float(log["loss"]) if log else math.nan for log in logs]


@pytest.mark.parametrize("placement", ["post", "pre"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_short_training_has_the_losses_of_the_cpu(precision: str, placement: str) -> None:
    on_cpu, on_card = losses("fp32", 0, placement), losses(precision, GPUS, placement)
    if precision == "fp16":
        # Another update than on the CPU follows one that overflowed; the first loss is of the same weights.
        assert min(x for x in on_card if not math.isnan(x)) < on_cpu[0]
        on_cpu, on_card = on_cpu[:1], [x for x in on_card if not math.isnan(x)][:1]
    assert on_card == pytest.approx(on_cpu, rel=PRECISIONS[precision])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_training_that_is_killed_ends_as_one_that_was_not(
    precision: str, hold: NewHold, prepared: Path, tmp_path: Path
) -> None:
    """The last digits are other ones each time, so what is compared is the curve to a tolerance."""
    curves = []
    for name, moments in {"whole": [], "killed": [in_epoch(2), in_epoch(3)]}.items():
        folder = tmp_path / name
        folder.mkdir()
        content = study_content({"precision": precision}, execution={"log_interval": 1, "gpus": GPUS})
        (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
        (run,) = expand(validate(content, "study.yaml"))
        kill_at(moments, hold, folder, run, prepared)
        finish(folder, run, prepared)
        assert len(json.loads((folder / run.id / "run.json").read_text())["attempts"]) == len(moments) + 1
        curves.append(pd.read_csv(folder / run.id / "curve.csv"))
    whole, killed = curves
    assert list(killed["updates"]) == list(whole["updates"])
    for column in ("train_loss", "valid_loss", "test_loss"):
        assert list(killed[column]) == pytest.approx(list(whole[column]), rel=0.02)
