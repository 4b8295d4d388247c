"""The traced first updates are those of a real training, and what is measured of them is what it is called."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from preln.errors import PrelnError
from preln.theory.first_updates import norms_by_layer, sharpness, trace, write
from preln.translation.training import state_of
from tests.conftest import settings
from tests.models import probe
from tests.trainings import finish, write_study

pytestmark = pytest.mark.slow

UPDATES = 12


@pytest.mark.parametrize(
    "changes",
    [
        {"placement": "post", "dropout": 0.1},
        {
            **{"placement": "pre", "optimizer": "radam", "schedule": "linear", "decay_updates": 60},
            **{"accumulate": 2, "batch_tokens": 256, "clip_norm": 0.5},
        },
        {
            **{"placement": "post", "optimizer": "sgd", "schedule": "constant", "warmup": 0},
            **{"weight_decay": 0.01, "learning_rate": 0.5},
        },
    ],
    ids=["Adam with dropout", "RAdam in two batches, clipped, and linear", "SGD at a constant rate"],
)
def test_the_updates_are_those_of_the_training(changes: dict[str, Any], prepared: Path, tmp_path: Path) -> None:
    _, run = write_study(tmp_path, epochs=1, **changes)
    # In a process of its own, for fairseq writes its log only where it configures logging itself.
    finish(tmp_path, run, prepared)
    lines = state_of(run, prepared, tmp_path / run.id).log.read_text().splitlines()
    logged = [json.loads(line) for line in lines if line.startswith("{") and '"gnorm"' in line]
    result = trace(probe(run.settings, prepared), run.settings, UPDATES, UPDATES)
    norms = result.filter(like="gradient_norm.").to_numpy()
    for update in range(1, UPDATES + 1):
        gradient = float(np.linalg.norm(norms[update]))
        line = next(line for line in logged if int(line["num_updates"]) == update)
        clip = run.settings.clip_norm or math.inf
        # The log has the norm before it is clipped, to three digits.
        assert gradient == pytest.approx(min(float(line["gnorm"]), clip), abs=2e-3, rel=2e-3)


def test_an_update_at_rate_zero_changes_nothing(prepared: Path) -> None:
    run = settings(schedule="constant", warmup=0, learning_rate=1e-30)
    result = trace(probe(run, prepared), run, 2, 10)
    assert list(result["function_change"].dropna()) == list(result["function_distance"].dropna()) == [0.0, 0.0]
    assert result["loss"].nunique() == 1
    assert (result.filter(like="update_norm.").to_numpy()[1:] < 1e-20).all()


def test_the_distance_from_the_beginning_is_that_of_the_first_update_at_first(prepared: Path) -> None:
    run = settings(schedule="constant", warmup=0)
    result = trace(probe(run, prepared), run, 3, 10)
    change, distance = result["function_change"].to_numpy(), result["function_distance"].to_numpy()
    assert change[1] == distance[1] > 0
    # No longer than the way.
    assert 0 < distance[3] <= change[1:].sum() * (1 + 1e-6)


def test_a_loss_that_is_not_finite_ends_the_trace(prepared: Path) -> None:
    run = settings()
    broken = probe(run, prepared)
    with torch.no_grad():
        broken.model.decoder.layers[0].fc1.weight.fill_(math.nan)
    result = trace(broken, run, 5, 5)
    assert result["update"].tolist() == [0]
    assert result["loss"].isna().all()
    assert result["sharpness"].isna().all()


def test_a_trace_is_written_with_five_digits(tmp_path: Path) -> None:
    write(pd.DataFrame({"update": [0, 1], "loss": [1 / 3, math.nan]}), tmp_path / "updates.csv")
    assert (tmp_path / "updates.csv").read_text() == "update,loss\n0,0.33333\n1,\n"


def test_post_ln_gives_its_norms_inputs_that_lemma_2_predicts(prepared: Path) -> None:
    run = settings(placement="post", encoder_layers=2, decoder_layers=2, width=64, initialisation="xavier")
    result = trace(probe(run, prepared), run, 1, 10)
    # ||x||^2 / d is 3/2 in lemma 2, and less where attention averages less than all positions.
    assert 1.0 < result["input_norm.decoder.2"].to_numpy()[0] ** 2 < 2.0
    assert math.isfinite(result["sharpness"].to_numpy()[0])


def test_more_updates_than_the_first_epoch_has_are_refused(prepared: Path) -> None:
    run = settings(batch_tokens=4096)
    with pytest.raises(PrelnError, match=r"first epoch has \d+; 500 cannot be traced"):
        trace(probe(run, prepared), run, 500, 500)


def test_the_sharpness_is_the_largest_eigenvalue_of_the_hessian_also_where_a_negative_one_is_larger() -> None:
    (weight,) = weights = [torch.ones(40, dtype=torch.float64, requires_grad=True)]
    curvature = torch.linspace(-10.0, 3.0, 40, dtype=torch.float64)
    direction = None
    for _ in range(2):
        result, direction = sharpness(lambda: (curvature * weight.square()).sum() / 2, weights, direction)
    assert result == pytest.approx(3.0, rel=1e-2)
    assert torch.equal(weight, torch.ones_like(weight)), "it is left as it was"


def test_every_weight_is_in_one_norm() -> None:
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    model = nn.ModuleDict({"encoder": nn.ModuleDict({"layers": layers}), "output": nn.Linear(2, 2)})
    tensors = {name: torch.full_like(p, 2.0) for name, p in model.named_parameters()}
    result = norms_by_layer("norm", tensors)
    assert result == pytest.approx({f"norm.{place}": math.sqrt(24) for place in ("encoder.1", "encoder.2", "rest")})
