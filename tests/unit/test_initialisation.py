"""How a model's weights are drawn before it is trained: their moments in closed form, and fairseq's old formulas."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from preln.config import Execution, PretrainingSettings
from preln.fairseq_plugin import options
from preln.theory.exact import ExactStack
from tests.conftest import PRETRAINING, settings
from tests.models import model_of, probe

pytestmark = pytest.mark.slow

WIDTH, INNER = 64, 128


def translation(prepared: Path, **changes: Any) -> Any:
    """A translation model as its training begins with it."""
    return probe(settings(**{"width": WIDTH, "ffn_width": INNER, **changes}), prepared).model


def bert(prepared_text: Path, state: Path, **changes: Any) -> Any:
    """A BERT as its pre-training begins with it."""
    run = PretrainingSettings.model_validate({**PRETRAINING, "width": WIDTH, "ffn_width": INNER, **changes})
    return model_of(options.pretraining(run, prepared_text / "binary", state, (), Execution()))


def layers(model: Any) -> Iterator[Any]:
    yield from model.encoder.layers
    yield from model.decoder.layers


def pooled(tensors: list[Tensor]) -> Tensor:
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


def assert_uniform(draws: Tensor, bound: float) -> None:
    """Draws fill [-bound, bound], with the mean and the variance of a uniform distribution."""
    n = draws.numel()
    assert float(draws.abs().max()) <= bound
    assert float(draws.abs().max()) > bound * (1 - 20 / n)
    # Six standard errors; those of a variance are of the kurtosis 9/5.
    assert abs(float(draws.mean())) < 6 * bound / math.sqrt(3 * n)
    assert float(draws.var()) == pytest.approx(bound**2 / 3, rel=6 * math.sqrt(0.8 / n))


@pytest.mark.parametrize(
    ("initialisation", "first", "second", "biases"),
    [
        ("fairseq", WIDTH**-0.5, INNER**-0.5, True),
        ("xavier", math.sqrt(6 / (WIDTH + INNER)), math.sqrt(6 / (WIDTH + INNER)), False),
    ],
)
def test_the_feed_forward_matrices_have_the_moments_of_their_formula(
    initialisation: str, first: float, second: float, biases: bool, prepared: Path
) -> None:
    model = translation(prepared, initialisation=initialisation)
    assert_uniform(pooled([layer.fc1.weight for layer in layers(model)]), first)
    assert_uniform(pooled([layer.fc2.weight for layer in layers(model)]), second)
    assert all(bool(layer.fc1.bias.any()) is biases and bool(layer.fc2.bias.any()) is biases for layer in layers(model))


@pytest.mark.parametrize(("projections", "outputs"), [("packed", 3 * WIDTH), ("separate", WIDTH)])
def test_projections_of_attention_have_their_formulas_moments(projections: str, outputs: int, prepared: Path) -> None:
    model = translation(prepared, projections=projections)
    modules = [layer.self_attn for layer in layers(model)] + [layer.encoder_attn for layer in model.decoder.layers]
    # Xavier of a matrix with WIDTH inputs and so many outputs.
    for name in ("q_proj", "k_proj", "v_proj"):
        bound = math.sqrt(6 / (WIDTH + outputs))
        assert_uniform(pooled([getattr(attention, name).weight for attention in modules]), bound)
    # The output projection was never packed.
    assert_uniform(pooled([attention.out_proj.weight for attention in modules]), math.sqrt(6 / (2 * WIDTH)))


def test_all_that_is_not_drawn_otherwise_is_fairseqs(prepared: Path) -> None:
    usual = translation(prepared).state_dict()
    redrawn = translation(prepared, initialisation="xavier", projections="separate").state_dict()
    changed = {name for name, weight in usual.items() if not torch.equal(weight, redrawn[name])}
    assert changed == {
        name
        for name in usual
        if any(part in name for part in (".fc1.", ".fc2.", ".q_proj.w", ".k_proj.w", ".v_proj.w"))
    }


@pytest.mark.parametrize("width", [64, 192])
def test_a_bert_is_drawn_with_berts_standard_deviation_or_all_matrices_in_proportion_to_its_width(
    width: int, prepared_text: Path, tmp_path: Path
) -> None:
    fixed, scaled = (bert(prepared_text, tmp_path, width=width, initial_std=kind) for kind in ("fixed", "scaled"))
    draws = pooled([weight[weight != 0] for weight in fixed.parameters() if weight.dim() > 1])
    assert float(draws.std()) == pytest.approx(0.02, rel=6 / math.sqrt(2 * draws.numel()))
    for name, weight in scaled.state_dict().items():
        factor = math.sqrt(768 / width) if weight.dim() > 1 else 1.0
        torch.testing.assert_close(weight, factor * fixed.state_dict()[name])


DEPTHS = {"encoder_layers": 4, "decoder_layers": 2}


def assert_scaled(scaled: dict[str, Tensor], usual: dict[str, Tensor]) -> None:
    """W^1, W^2, W^V and W^O are divided by k_l = N - l + 1 (DeepNet, section 3), in each stack by itself."""
    for name, weight in scaled.items():
        layer = re.search(r"layers\.(\d+)\.(?!.*[qk]_proj)", name)
        depth = DEPTHS["decoder_layers" if name.startswith("decoder") else "encoder_layers"]
        k = depth - int(layer[1]) if layer and weight.dim() > 1 else 1
        torch.testing.assert_close(weight, usual[name] / k, rtol=1e-6, atol=0.0)


@pytest.mark.parametrize(("initialisation", "projections"), [("fairseq", "packed"), ("xavier", "separate")])
def test_post_ln_init_is_post_ln_scaled_in_lower_layers(initialisation: str, projections: str, prepared: Path) -> None:
    drawn = {**DEPTHS, "initialisation": initialisation, "projections": projections}
    models = (translation(prepared, placement=name, **drawn) for name in ("post-init", "post"))
    assert_scaled(*(model.state_dict() for model in models))


def test_a_bert_has_the_scales_of_post_ln_init(prepared_text: Path, tmp_path: Path) -> None:
    models = (bert(prepared_text, tmp_path, placement=name, layers=4) for name in ("post-init", "post"))
    assert_scaled(*(model.state_dict() for model in models))


def test_the_model_of_the_proofs_has_the_scales_of_post_ln_init() -> None:
    draws = torch.Generator()
    models = (ExactStack(WIDTH, 4, name, "encoder", draws.manual_seed(1)) for name in ("post-init", "post"))
    assert_scaled(*(model.state_dict() for model in models))
