"""Measurements of a language model before and in its first updates are of the training's own batches and updates."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from preln.config import LanguageSettings, write
from preln.jobs.checking import check
from preln.language.model import LanguageModel
from preln.language.probe import Probe
from preln.language.text import TokenText
from preln.language.trainer import Trainer
from preln.records.recording import Record
from preln.theory import first_updates, gradients
from preln.theory.measurement_jobs import NOT_IN_A_LANGUAGE_MODEL
from preln.theory.measurements import Measurement
from preln.theory.report.records import read
from tests.conftest import language_settings
from tests.made_up import traces
from tests.made_up.theory import language_theory

pytestmark = pytest.mark.numbers

BASE = Measurement("language", "", "initial", "post", "", 2, 16, None, "", 1, "", math.nan)
PLACES = {"embedding.weight": "-embeddings", "position": "-positions", "output.weight": "-output"}
NAMES = {
    **{f"attention.{name}.weight": name[0].upper() for name in ("query", "key", "value", "output")},
    **{f"feed_forward.w{number}.weight": f"W{number}" for number in (1, 2, 3)},
}


@pytest.fixture(scope="module")
def text(prepared_tokens: Path) -> TokenText:
    return TokenText.read(prepared_tokens / "tokens-bpe")


def loss_of(model: LanguageModel, tokens: Tensor, targets: Tensor) -> Tensor:
    """The mean of -log p of the targets, in nats."""
    return -model(tokens).log_softmax(-1).gather(-1, targets[..., None]).mean()


def by_autograd(trainer: Trainer, updates: int) -> dict[str, float]:
    """The norm of each matrix's mean gradient over the batches of the first updates."""
    weights = {name: weight for name, weight in trainer.model.named_parameters() if weight.dim() == 2}
    batches = [batch for update in range(1, updates + 1) for batch in trainer.batches(update)]
    sums = [torch.zeros_like(weight) for weight in weights.values()]
    for tokens, targets in batches:
        terms = torch.autograd.grad(loss_of(trainer.model, tokens, targets), list(weights.values()))
        sums = [a + b for a, b in zip(sums, terms, strict=True)]
    return {_place(name): float(total.norm()) / len(batches) for name, total in zip(weights, sums, strict=True)}


def _place(name: str) -> str:
    """For example `2-W1`."""
    if name in PLACES:
        return PLACES[name]
    _, index, matrix = name.split(".", 2)
    return f"{int(index) + 1}-{NAMES[matrix]}"


def measured(probe: Probe, batches: int) -> dict[str, float]:
    rows = [row for row in gradients.measure(probe, batches, BASE) if row.quantity == "expected_gradient_norm"]
    return {f"{row.layer or ''}-{row.matrix}": row.value for row in rows}


@pytest.mark.parametrize(
    "changes",
    [
        {"placement": "post"},
        {"feed_forward": "swiglu", "positions": "rope", "tied": False, "norm": "rms", "accumulate": 2},
    ],
    ids=["as in 2017", "as today"],
)
def test_the_gradients_are_those_of_autograd(changes: dict[str, Any], text: TokenText) -> None:
    settings = language_settings(**changes)
    expected = by_autograd(Trainer(settings, text), updates=2)
    # The probe is in fp32.
    probe = Probe(settings.model_copy(update={"precision": "bf16"}), text)
    assert measured(probe, 2 * settings.accumulate) == pytest.approx(expected, rel=1e-4)


def test_what_is_of_the_training_alone_changes_no_gradient_before_it(text: TokenText) -> None:
    trained_so: dict[str, Any] = {
        **{"optimizer": "muon", "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6, "weight_decay": 0.1, "clip_norm": 1.0},
        **{"learning_rate": 0.1, "schedule": "stable-decay", "warmup": 3, "anchor": "warmup", "decay_period": 7},
        **{"decay_start": 9, "decay_updates": 50, "updates": 60, "validate_every": 2, "valid_tokens": 99},
        "precision": "bf16",
    }
    assert trained_so.keys() == NOT_IN_A_LANGUAGE_MODEL & LanguageSettings.model_fields.keys()
    assert measured(Probe(language_settings(**trained_so), text), 3) == measured(Probe(language_settings(), text), 3)


def trace(settings: LanguageSettings, text: TokenText, updates: int) -> pd.DataFrame:
    return first_updates.trace(Probe(settings, text), settings, updates, updates + 1)


def held_out(text: TokenText) -> tuple[Tensor, Tensor]:
    """The first 1,024 tokens of valid, or all, as sequences of 16, and those that follow them."""
    count = min(1024, len(text.valid) - 1) // 16 * 16
    tokens = torch.tensor(text.valid[: count + 1].astype(int))
    return tokens[:-1].view(-1, 16), tokens[1:].view(-1, 16)


def least_distance(model: LanguageModel, tokens: Tensor) -> float:
    """1 - the mean cosine of what the output takes of two tokens."""
    states: list[Tensor] = []
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
    for at in (0, 1):
        assert result["loss"].iloc[at] == pytest.approx(float(loss_of(model, *fixed).detach()) / math.log(2), rel=1e-5)
        assert 1 - result["cosine"].iloc[at] == pytest.approx(least_distance(model, fixed[0]), abs=2e-5)
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
import json, sys
sys.modules.update(fairseq=None, hydra=None, omegaconf=None)
from preln.commands.cli import app
for arguments in json.loads(sys.argv[1]):
    app(arguments, standalone_mode=False)
"""
TRACE, PART = "post-lr3e-3-const-s1", "post-2-after-warm-up"


@pytest.fixture(scope="module")
def recorded(prepared_tokens: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a trace and of a part of a theory, whose records their commands made without fairseq."""
    folder = tmp_path_factory.mktemp("recorded")
    traced = traces.language_content({"placement": "post"}, updates=2)
    jobs, calls = [], []
    for name, content, command in (
        (TRACE, traced, ["trace"]),
        (PART, language_theory(), ["measure", "--runs", str(folder)]),
    ):
        checked = check(content, "study.yaml")
        jobs.append(next(job for job in checked.every if job.id == name))
        write(checked.study, folder / f"study of {name}" / "study.yaml")
        arguments = [*command, str(folder / f"study of {name}"), name]
        calls.append([*arguments, "--prepared", str(prepared_tokens), "--out", str(folder / name)])
    subprocess.run([sys.executable, "-c", WITHOUT_FAIRSEQ, json.dumps(calls)], check=True)
    for job in jobs:
        record = Record(job, folder / job.id)
        assert record.is_current and record.damaged is None
        assert record.is_of_text(prepared_tokens / "text" / "text.json", [])
    return folder


@pytest.mark.slow
def test_a_trace_is_recorded_without_fairseq(recorded: Path) -> None:
    updates = pd.read_csv(recorded / TRACE / "updates.csv")
    assert updates["update"].tolist() == [0, 1, 2]
    assert updates["sharpness"].notna().tolist() == [True, False, False]


@pytest.mark.slow
def test_after_its_warm_up_a_model_is_measured_as_trained_and_without_fairseq(text: TokenText, recorded: Path) -> None:
    table = read(recorded / PART / "measurements.csv")
    norms = table[(table["quantity"] == "expected_gradient_norm") & (table["stack"] == "decoder")]
    trainer = Trainer(language_settings(placement="post", warmup=4), text)
    for _ in range(4):
        trainer.update()
    expected = {place: norm for place, norm in by_autograd(trainer, updates=3).items() if place[0] != "-"}
    places = [f"{layer}-{matrix}" for layer, matrix in zip(norms["layer"], norms["matrix"], strict=True)]
    assert dict(zip(places, norms["value"], strict=True)) == pytest.approx(expected, rel=1e-3)
