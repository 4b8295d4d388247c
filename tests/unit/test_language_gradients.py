"""The measured gradients of a language model are autograd's, before training and after its warm-up; without fairseq."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from preln.config import LanguageSettings, write
from preln.jobs.checking import check
from preln.language.probe import Probe
from preln.language.text import TokenText
from preln.language.trainer import Trainer
from preln.records.record import Record
from preln.theory import gradients
from preln.theory.measurement_jobs import NOT_IN_A_LANGUAGE_MODEL
from preln.theory.measurements import Measurement
from preln.theory.report.records import read
from tests.conftest import language_settings
from tests.made_up.theory import language_theory
from tests.unit.test_language_traces import WITHOUT_FAIRSEQ

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


def by_autograd(trainer: Trainer, updates: int) -> dict[str, float]:
    """The norm of each matrix's mean gradient over the batches of the first updates."""
    weights = {name: weight for name, weight in trainer.model.named_parameters() if weight.dim() == 2}
    batches = [batch for update in range(1, updates + 1) for batch in trainer.batches(update)]
    sums = [torch.zeros_like(weight) for weight in weights.values()]
    for tokens, targets in batches:
        loss = -trainer.model(tokens).log_softmax(-1).gather(-1, targets[..., None]).mean()
        sums = [a + b for a, b in zip(sums, torch.autograd.grad(loss, list(weights.values())), strict=True)]
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


def test_after_its_warm_up_a_model_is_measured_as_its_training_had_it_and_without_fairseq(
    prepared_tokens: Path, text: TokenText, tmp_path: Path
) -> None:
    checked = check(language_theory(), "study.yaml")
    (job,) = (job for job in checked.jobs["theory"] if job.id == "post-2-after-warm-up")
    write(checked.study, tmp_path / "study.yaml")
    arguments = ["measure", str(tmp_path), job.id, "--prepared", str(prepared_tokens), "--runs", str(tmp_path)]
    command = [sys.executable, "-c", WITHOUT_FAIRSEQ, *arguments, "--out", str(tmp_path / job.id)]
    subprocess.run(command, check=True)
    record = Record(job, tmp_path / job.id)
    assert record.is_current and record.damaged is None
    assert record.is_of_text(prepared_tokens / "text" / "text.json", [])
    table = read(tmp_path / job.id / "measurements.csv")
    norms = table[(table["quantity"] == "expected_gradient_norm") & (table["stack"] == "decoder")]
    trainer = Trainer(language_settings(placement="post", warmup=4), text)
    for _ in range(4):
        trainer.update()
    expected = {place: norm for place, norm in by_autograd(trainer, updates=3).items() if place[0] != "-"}
    places = [f"{layer}-{matrix}" for layer, matrix in zip(norms["layer"], norms["matrix"], strict=True)]
    assert dict(zip(places, norms["value"], strict=True)) == pytest.approx(expected, rel=1e-3)
