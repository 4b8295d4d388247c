"""The ten-minute study for a GPU: what it compares, what it costs, and, on the smallest models, that it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from preln.commands.plan import GPUS, items
from preln.config import Study, read, validate
from preln.jobs.checking import check, check_file
from preln.report.catalogue import Catalogue
from preln.translation.runs import Run, expand
from preln.translation.training import train_run
from tests.conftest import CORPUS, ROOT, RUN

STUDY = ROOT / "config" / "demo-gpu.yaml"
CONTRAST = [("post", False), ("post", True), ("pre", False)]
"""Figure 4's: the placement, and whether there is a warm-up."""


def contrast(runs: list[Run]) -> list[tuple[str, bool]]:
    return [(run.settings.placement, run.settings.warmup > 0) for run in runs]


def test_it_is_figure_4s_contrast_of_the_papers_model_on_one_gpu_each() -> None:
    runs = expand(check_file(STUDY).study)
    assert contrast(runs) == CONTRAST
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


def rehearsal() -> Study:
    """The same study of the smallest models on generated text and a CPU."""
    content = read(STUDY)
    content["corpora"] = {"tiny": CORPUS}
    tiny: dict[str, Any] = {"corpus": "tiny", "epochs": 2, "decay_period": 10}
    size = ("encoder_layers", "decoder_layers", "width", "ffn_width", "heads", "batch_tokens", "beam")
    content["translation"]["settings"] |= tiny | {name: RUN[name] for name in size} | {"bleu_sentences": 10}
    for run in content["translation"]["runs"]:
        run |= {"drop_epoch": 1} if "drop_epoch" in run else {"warmup": min(run["warmup"], 10)}
    content["execution"] = {"gpus": 0}
    return validate(content, "demo-gpu.yaml")


@pytest.mark.slow
def test_its_rehearsal_trains_on_a_cpu_and_draws_figure_4(prepared: Path, tmp_path: Path) -> None:
    study = rehearsal()
    runs = expand(study)
    assert contrast(runs) == CONTRAST
    for run in runs:
        train_run(study, run, prepared, tmp_path / study.study / run.folder)
        metrics = json.loads((tmp_path / study.study / run.folder / "metrics.json").read_text(encoding="utf-8"))
        assert metrics["status"] == "finished"
    catalogue = Catalogue(study)
    figure = catalogue.figure("4")
    drawing = figure.compose(study, catalogue.load(figure, tmp_path))
    losses = [np.asarray(line.get_ydata()).tolist() for line in drawing.axes[0].lines]
    assert len({tuple(loss) for loss in losses if len(loss) == runs[0].settings.epochs}) == 3
