"""The gradients of a translation model against those of a real training: its log says each update's loss and norm."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from preln.config import Study, validate, write
from preln.config.theory import VARIANTS
from preln.errors import PrelnError
from preln.fairseq_plugin.checkpoints import allow_settings, kept_weights
from preln.fairseq_plugin.probe import VARIED_WEIGHTS
from preln.records.files import write_json
from preln.theory import gradients, measurement_jobs, measuring
from preln.theory.measurements import COLUMNS, Measurement
from preln.theory.report.records import read
from preln.translation.runs import Run, expand
from preln.translation.training import state_of, train_run
from tests.conftest import settings, study_content
from tests.models import probe
from tests.trainings import finish

pytestmark = pytest.mark.slow

WARMUP = 10
BASE = Measurement("translation", "", "initial", "post", "", 2, 16, None, "", 1, "", math.nan)


def content(**changes: Any) -> dict[str, Any]:
    model = {"placement": "post", "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0, "epochs": 1}
    run = {**model, "warmup": WARMUP, **changes}
    (named,) = expand(validate(study_content(run), "study"))
    theory = {"seeds": 2, "gradients": {"runs": [named.id], "depths": [2, 3, 4], "batches": 2}}
    return study_content(run, execution={"log_interval": 1}, theory=theory)


Trained = tuple[Study, Run, Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Trained:
    """A training without dropout; its folder of runs."""
    study = validate(content(), "study")
    run = expand(study)[0]
    runs = tmp_path_factory.mktemp("runs")
    write(study, runs / "study.yaml")
    # In a process of its own, for fairseq writes its log only where it configures logging itself.
    finish(runs, run, prepared)
    return study, run, runs


def log(trained: Trained, prepared: Path, update: int) -> dict[str, float]:
    """The loss and the gradient's norm of an update, as the training logged them."""
    _, run, runs = trained
    lines = state_of(run, prepared, runs / run.id).log.read_text().splitlines()
    values = json.loads(next(line for line in lines if f'"num_updates": "{update}"' in line))
    return {key: float(values[key]) for key in ("loss", "gnorm")}


@pytest.mark.parametrize("update", [1, WARMUP + 1], ids=["at initialisation", "after the warm-up"])
def test_the_measured_model_is_that_of_the_trainings_update(update: int, trained: Trained, prepared: Path) -> None:
    _, run, runs = trained
    looked_at = probe(run.settings, prepared)
    if update > WARMUP:
        looked_at.load(state_of(run, prepared, runs / run.id).folder / "after-warm-up.pt")
    *_, batch = looked_at.batches(update)
    loss = looked_at.loss(batch)
    logged = log(trained, prepared, update)
    assert loss.item() / math.log(2) == pytest.approx(logged["loss"], abs=6e-4)
    gradient = torch.autograd.grad(loss, list(looked_at.model.parameters()))
    assert float(torch.nn.utils.get_total_norm(gradient)) == pytest.approx(logged["gnorm"], abs=6e-4)


def test_a_warm_up_as_long_as_the_training_keeps_its_weights(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    _, other, runs = trained
    updates = int(pd.read_csv(runs / other.id / "curve.csv")["updates"].iloc[-1])
    study = validate(content(warmup=updates), "study")
    (run,) = expand(study)
    train_run(study, run, prepared, tmp_path / "run")
    state = state_of(run, prepared, tmp_path / "run").folder
    allow_settings()
    last = torch.load(state / "checkpoints" / "checkpoint1.pt", weights_only=True)["model"]
    torch.testing.assert_close(kept_weights(state / "after-warm-up.pt"), last)


def test_the_expected_gradient_is_the_norm_of_the_mean_and_not_the_mean_of_norms(prepared: Path) -> None:
    looked_at = probe(settings(placement="post", dropout=0.0), prepared)
    name = "decoder.layers.0.fc2.weight"
    weight = dict(looked_at.model.named_parameters())[name]
    result = [torch.autograd.grad(looked_at.loss(batch), weight)[0] for batch in looked_at.batches(3)]
    rows = list(gradients.measure(looked_at, 3, BASE))
    measured = {row.quantity: row.value for row in rows if (row.stack, row.layer, row.matrix) == ("decoder", 1, "W2")}
    assert measured["expected_gradient_norm"] == pytest.approx(float(torch.stack(result).mean(dim=0).norm()), rel=1e-4)
    assert measured["mean_gradient_norm"] == pytest.approx(sum(float(g.norm()) for g in result) / 3, rel=1e-4)
    assert measured["expected_gradient_norm"] < measured["mean_gradient_norm"]


def test_every_weight_matrix_is_measured_once(prepared: Path) -> None:
    looked_at = probe(settings(placement="pre", encoder_layers=2, decoder_layers=3), prepared)
    matrices = looked_at.matrices()
    everything = {id(p) for n, p in looked_at.model.named_parameters() if p.dim() == 2}
    assert {id(matrix.weight) for matrix in matrices} == everything
    assert len(matrices) == len(everything)
    names = {(matrix.stack, matrix.name) for matrix in matrices}
    own = {"W1", "W2", "Q", "K", "V", "O"}
    assert names == {
        ("", "embeddings"),
        *(("encoder", name) for name in own),
        *(("decoder", name) for name in own | {"cross-Q", "cross-K", "cross-V", "cross-O"}),
    }


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_hidden_states_are_measured_without_padding(placement: str, prepared: Path) -> None:
    looked_at = probe(settings(placement=placement, dropout=0.0), prepared)
    batches = [batch["net_input"]["src_tokens"] for batch in looked_at.batches(4)]
    pad = 1
    assert any((sources == pad).any() for sources in batches)
    seen: list[Tensor] = []
    encoder = looked_at.model.encoder
    norm = encoder.layer_norm if placement == "pre" else encoder.layers[-1].feed_forward_residual.norm
    handle = norm.register_forward_pre_hook(lambda module, arguments: seen.append(arguments[0].detach()))
    rows = list(gradients.measure(looked_at, 4, BASE))
    handle.remove()
    # fairseq's own norm has positions first.
    states = [x.transpose(0, 1) if placement == "pre" else x for x in seen]
    words = torch.cat([x[sources != pad] for x, sources in zip(states, batches, strict=True)])
    (measured,) = [row.value for row in rows if (row.stack, row.quantity) == ("encoder", "square_norm")]
    assert measured == pytest.approx(float(words.square().mean()), rel=1e-5)


def test_a_separate_output_leaves_the_embeddings_to_the_input(prepared: Path) -> None:
    looked_at = probe(settings(), prepared)
    VARIED_WEIGHTS["separate-output"](looked_at)
    model = looked_at.model
    assert model.decoder.output_projection.weight is not model.decoder.embed_tokens.weight
    assert model.encoder.embed_tokens.weight is model.decoder.embed_tokens.weight
    assert {matrix.name for matrix in looked_at.matrices() if not matrix.stack} == {"embeddings", "output"}
    deviation = float(model.decoder.output_projection.weight.detach().std())
    assert deviation == pytest.approx(settings().width ** -0.5, rel=0.05)


@pytest.mark.parametrize(
    ("variant", "changes"),
    [("xavier-feed-forward", {"initialisation": "xavier"}), ("unpacked-projections", {"projections": "separate"})],
)
def test_a_variant_of_the_weights_is_what_a_run_with_that_setting_begins_with(
    variant: str, changes: dict[str, Any], prepared: Path
) -> None:
    # The placement scales weights by 1 and 1/2, which rounds none.
    scaled = {"placement": "post-init", "encoder_layers": 2, "decoder_layers": 2}
    # The draws of the one come before the other is built, which begins with the seed again.
    varied = probe(settings(**scaled), prepared)
    VARIED_WEIGHTS[variant](varied)
    run = probe(settings(**scaled, **changes), prepared)
    begun = run.model.state_dict()
    assert all(torch.equal(weight, begun[name]) for name, weight in varied.model.state_dict().items())


def test_what_is_said_to_be_of_the_training_alone_changes_no_measurement_before_it(prepared: Path) -> None:
    trained_so: dict[str, Any] = {
        **{"optimizer": "radam", "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-6, "weight_decay": 0.1, "clip_norm": 1.0},
        **{"learning_rate": 0.1, "schedule": "stable-decay", "warmup": 3, "anchor": "warmup", "decay_period": 7},
        **{"drop_epoch": None, "drop_factor": 0.5, "decay_updates": 50, "decay_start": 9, "epochs": 9, "accumulate": 2},
        **{"precision": "bf16", "beam": 1, "length_penalty": 0.5, "bleu_sentences": 3},
    }
    assert trained_so.keys() == measurement_jobs.NOT_AT_INITIALISATION
    first, second = (
        [row.value for row in gradients.measure(probe(settings(**changes), prepared), 2, BASE)]
        for changes in ({}, trained_so)
    )
    assert first == second


def test_every_variant_is_one_of_the_settings_or_one_of_the_weights() -> None:
    assert measurement_jobs.VARIED_SETTINGS.keys() | VARIED_WEIGHTS.keys() == VARIANTS.keys()
    assert not measurement_jobs.VARIED_SETTINGS.keys() & VARIED_WEIGHTS.keys()


def measured(study: Study, part_id: str, prepared: Path, runs: Path, out: Path) -> pd.DataFrame:
    (part,) = [part for part in measurement_jobs.expand(study) if part.id == part_id]
    measuring.measure(study, part, prepared, runs, out / part_id)
    record = json.loads((out / part_id / "run.json").read_text())
    assert record["identity"] == json.loads(json.dumps(part.identity))
    assert {"versions", "commit", "hardware", "seconds"} <= record.keys()
    assert record["corpus"] == json.loads((prepared / "text" / "corpus.json").read_text())
    return read(out / part_id / "measurements.csv")


def test_more_mini_batches_than_an_epoch_has_are_refused(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    asked = content()
    asked["theory"]["gradients"]["batches"] = 500
    with pytest.raises(PrelnError, match=r"batches: 500, but an epoch of the text has \d+ mini-batches"):
        measured(validate(asked, "study"), "post-2", prepared, trained[2], tmp_path)
    assert not (tmp_path / "post-2" / "run.json").exists()


def test_a_part_writes_its_seeds_and_its_origin(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    study, _, runs = trained
    table = measured(study, "post-2", prepared, runs, tmp_path)
    assert list(table.columns) == COLUMNS
    assert set(table["seed"]) == {1, 2}
    assert set(table["state"]) == {"initial"}
    assert not table.duplicated(["stack", "layer", "matrix", "seed", "quantity"]).any()
    may_be_none = {"excess_share", "gradient_square"}
    assert table["value"].gt(0).where(~table["quantity"].isin(may_be_none), True).all()


def test_deeper_models_are_measured_in_the_decoders_sublayers(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    study, _, runs = trained
    table = measured(study, "pre-3", prepared, runs, tmp_path)
    assert set(table["stack"]) == {"decoder"}
    assert set(table["matrix"]) == {"W1", "W2"}
    assert set(table["layer"]) == {1, 2, 3}


def test_after_warm_up_it_is_the_trained_run_that_is_measured(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    study, _, runs = trained
    before = measured(study, "post-2", prepared, runs, tmp_path)
    after = measured(study, "post-2-after-warm-up", prepared, runs, tmp_path)
    assert set(after["state"]) == {"after-warm-up"}
    assert set(after["seed"]) == {1}
    key = ["stack", "layer", "matrix", "quantity", "seed"]
    both = before.merge(after, on=key, suffixes=("_before", "_after"))
    assert len(both) == len(after)
    assert (both["value_before"] != both["value_after"]).mean() > 0.9


def test_weights_that_are_not_kept_are_missed_with_what_to_do(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    study, run, runs = trained
    (tmp_path / run.id).mkdir()
    shutil.copy(runs / run.id / "metrics.json", tmp_path / run.id)
    with pytest.raises(PrelnError, match=r"after update 10.*train the run again"):
        measured(study, "post-2-after-warm-up", prepared, tmp_path, tmp_path)


def test_a_run_that_diverged_in_its_warm_up_is_left_out(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    study, run, runs = trained
    values = json.loads((runs / run.id / "metrics.json").read_text())
    write_json(tmp_path / run.id / "metrics.json", values | {"diverged": {"update": WARMUP - 1, "epoch": 1}})
    assert measured(study, "post-2-after-warm-up", prepared, tmp_path, tmp_path).empty
