"""The traced first updates of a language model are those of its training, and what is measured of them is what it is
called; without fairseq."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from preln.config import LanguageSettings, validate
from preln.config import write as write_study
from preln.language.model import LanguageModel
from preln.language.probe import Probe
from preln.language.text import TokenText
from preln.language.trainer import Trainer
from preln.records.record import Record
from preln.theory import first_updates, trace_jobs
from tests.conftest import language_settings
from tests.made_up import traces

pytestmark = pytest.mark.numbers


@pytest.fixture(scope="module")
def text(prepared_tokens: Path) -> TokenText:
    return TokenText.read(prepared_tokens / "tokens-bpe")


def trace(settings: LanguageSettings, text: TokenText, updates: int) -> pd.DataFrame:
    return first_updates.trace(Probe(settings, text), settings, updates, updates + 1)


def held_out(text: TokenText) -> tuple[torch.Tensor, torch.Tensor]:
    """The first 1,024 tokens of valid, or all, as sequences of 16, and those that follow them."""
    count = min(1024, len(text.valid) - 1) // 16 * 16
    tokens = torch.tensor(text.valid[: count + 1].astype(int))
    return tokens[:-1].view(-1, 16), tokens[1:].view(-1, 16)


def loss_of(model: LanguageModel, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean of -log p of the targets, in nats."""
    return -model(tokens).log_softmax(-1).gather(-1, targets[..., None]).mean()


def least_distance(model: LanguageModel, tokens: torch.Tensor) -> float:
    """1 - the mean cosine of what the output takes of two tokens."""
    states: list[torch.Tensor] = []
    handle = model.output.register_forward_pre_hook(lambda module, inputs: states.append(inputs[0]))
    model(tokens)
    handle.remove()
    rows = states[0].detach().flatten(0, 1).double().numpy()
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return float(1 - (units @ units.T)[~np.eye(len(units), dtype=bool)].mean())


@pytest.mark.parametrize("placement", ["post", "pre", "resi-dual", "rezero"])
def test_gradients_steps_losses_and_cosines_are_those_of_a_step_by_hand(placement: str, text: TokenText) -> None:
    settings = language_settings(placement=placement, optimizer="sgd", learning_rate=0.5)
    result = trace(settings, text, 1)
    trainer = Trainer(settings, text)
    model, fixed = trainer.model, held_out(text)
    parameters = dict(model.named_parameters())
    ((tokens, targets),) = trainer.batches(1)
    gradients = torch.autograd.grad(loss_of(model, tokens, targets), list(parameters.values()))
    norms = {"decoder.1": 0.0, "decoder.2": 0.0, "rest": 0.0}
    for name, gradient in zip(parameters, gradients, strict=True):
        place = {"layers.0.": "decoder.1", "layers.1.": "decoder.2"}.get(name[:9], "rest")
        norms[place] += float(gradient.square().sum())
    row = result.iloc[1]
    for place, square in norms.items():
        assert row[f"gradient_norm.{place}"] == pytest.approx(math.sqrt(square), rel=1e-4)
        assert row[f"update_norm.{place}"] == pytest.approx(0.5 * math.sqrt(square), rel=1e-3)
    for number in (0, 1):
        assert result["loss"].iloc[number] == pytest.approx(
            float(loss_of(model, *fixed).detach()) / math.log(2), rel=1e-5
        )
        assert 1 - result["cosine"].iloc[number] == pytest.approx(least_distance(model, fixed[0]), abs=2e-5)
        with torch.no_grad():
            for parameter, gradient in zip(parameters.values(), gradients, strict=True):
                parameter.sub_(gradient, alpha=0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"dropout": 0.1, "warmup": 2, "weight_decay": 0.1},
        {"optimizer": "muon", "accumulate": 2, "clip_norm": 0.1, "schedule": "linear"},
    ],
    ids=["AdamW with dropout and a warm-up", "Muon in two batches, clipped"],
)
def test_the_updates_are_those_of_the_training(changes: dict[str, Any], text: TokenText) -> None:
    settings = language_settings(**changes)
    result = trace(settings, text, 3)
    trainer = Trainer(settings, text)
    for number in range(1, 4):
        _, norm = trainer.update()
        gradient = math.hypot(*result.filter(regex="^gradient_norm").iloc[number])
        assert gradient == pytest.approx(min(norm, settings.clip_norm or math.inf), rel=1e-4)
        assert result["learning_rate"].iloc[number] == trainer.rate
        trainer.model.eval()
        loss = float(loss_of(trainer.model, *held_out(text)).detach()) / math.log(2)
        assert result["loss"].iloc[number] == pytest.approx(loss, rel=1e-5)
        trainer.model.train()


def test_the_sharpness_is_the_curvature_along_its_eigenvector(text: TokenText) -> None:
    settings = language_settings()
    probe = Probe(settings, text)
    batch, weights = probe.held_out(first_updates.FIXED_TOKENS), list(probe.model.parameters())
    value, vector = first_updates.sharpness(lambda: probe.loss(batch), weights, None)
    assert first_updates.trace(probe, settings, 1, 2)["sharpness"].tolist()[0] == pytest.approx(value)

    probe = Probe(settings, text)
    weights, length, slopes = list(probe.model.parameters()), 0.05, []
    for step in (-1.0, 2.0):
        with torch.no_grad():
            for weight, direction in zip(weights, vector, strict=True):
                weight.add_(direction, alpha=step * length)
        gradients = torch.autograd.grad(probe.loss(batch), weights)
        slopes.append(sum(float((g * v).sum()) for g, v in zip(gradients, vector, strict=True)))
    below, above = slopes
    assert (above - below) / (2 * length) == pytest.approx(value, rel=0.1)


WITHOUT_FAIRSEQ = """
import sys
sys.modules.update(fairseq=None, hydra=None, omegaconf=None)
from preln.commands.cli import app
app(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_trace_is_recorded_without_fairseq(prepared_tokens: Path, tmp_path: Path) -> None:
    study = validate(traces.language_content({"placement": "post"}, updates=2), "study.yaml")
    (job,) = trace_jobs.expand(study)
    write_study(study, tmp_path / "study.yaml")
    arguments = ["trace", str(tmp_path), job.id, "--prepared", str(prepared_tokens), "--out", str(tmp_path / job.id)]
    subprocess.run([sys.executable, "-c", WITHOUT_FAIRSEQ, *arguments], check=True)
    record = Record(job, tmp_path / job.id)
    assert record.is_current and record.damaged is None
    assert record.is_of_text(prepared_tokens / "text" / "text.json", [])
    updates = pd.read_csv(tmp_path / job.id / "updates.csv")
    assert updates["update"].tolist() == [0, 1, 2]
    assert updates["sharpness"].notna().tolist() == [True, False, False]
