"""The ten-minute study for a GPU: what it compares, and what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from preln.commands.plan import GPUS, items
from preln.config import read
from preln.jobs.checking import check, check_file
from preln.translation.runs import expand
from tests.conftest import ROOT

STUDY = ROOT / "config" / "demo-gpu.yaml"


def test_it_is_figure_4s_contrast_of_the_papers_model_on_one_gpu_each() -> None:
    runs = expand(check_file(STUDY).study)
    contrast = [(run.settings.placement, run.settings.warmup > 0) for run in runs]
    assert contrast == [("post", False), ("post", True), ("pre", False)]
    for run in runs:
        assert 4 in run.figures
        assert (run.settings.width, run.settings.batch_tokens, run.settings.learning_rate) == (512, 4096, 5e-4)
        assert run.execution.gpus == 1


def test_the_warm_up_the_decay_and_the_drop_are_at_the_papers_shares_of_a_run(tmp_path: Path) -> None:
    planned = items(check_file(STUDY), GPUS["l4"], tmp_path)
    _, warm, pre = expand(check_file(STUDY).study)
    assert warm.settings.warmup / (planned[1].estimate.updates or 0) == pytest.approx(4000 / (15 * 1100), rel=0.1)
    assert (pre.settings.drop_epoch or 0) / pre.settings.epochs == pytest.approx(8 / 15, rel=0.1)


@pytest.mark.parametrize("name", GPUS)
def test_its_trainings_are_planned_to_take_seven_minutes_and_fit_as_the_docs_say(name: str, tmp_path: Path) -> None:
    content = read(STUDY)
    if not GPUS[name].has_bf16:
        content["translation"]["settings"]["precision"] = "fp16"
    planned = items(check(content, "demo-gpu.yaml"), GPUS[name], tmp_path)
    assert round(60 * sum(item.hours or 60.0 for item in planned)) == 7
    assert max(item.memory or 1e12 for item in planned) < 1e9 * GPUS[name].memory / 2
