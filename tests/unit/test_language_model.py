"""The language model: causal, each placement as its equation, and its initialisation."""

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from preln.config.language import LanguageSettings
from preln.language.model import LanguageModel
from preln.placements import PLACEMENTS
from tests.conftest import language_settings
from tests.unit.formulas import FORMULAS, norm

pytestmark = pytest.mark.numbers

VOCABULARY = 11


def model(**changes: Any) -> LanguageModel:
    settings = language_settings(**changes)
    torch.manual_seed(1)
    built = LanguageModel(settings, VOCABULARY)
    built.initialise(tokens(settings))
    return built


def tokens(settings: LanguageSettings) -> Tensor:
    return torch.randint(VOCABULARY, (3, settings.sequence_length), generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("positions", ["learned", "rope"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_token_changes_its_own_and_later_logits_and_no_earlier_one(placement: str, positions: str) -> None:
    built = model(placement=placement, positions=positions, layers=2)
    if placement == "rezero":
        # It begins as the identity.
        for name, parameter in built.named_parameters():
            if name.endswith("alpha"):
                torch.nn.init.ones_(parameter)
    before = tokens(built.settings)
    after = before.clone()
    after[:, 5] = (after[:, 5] + 1) % VOCABULARY
    with torch.no_grad():
        moved = (built(before) - built(after)).abs().amax(dim=(0, 2))
    assert moved[:5].max() == 0
    assert moved[5:].min() > 0


@pytest.mark.parametrize("of_norm", ["layer", "rms"])
@pytest.mark.parametrize("placement", FORMULAS)
def test_each_placement_is_its_equation(placement: str, of_norm: str) -> None:
    built = model(placement=placement, norm=of_norm, layers=4)
    for name, parameter in built.named_parameters():
        if "norm" in name or "residual" in name:
            torch.nn.init.normal_(parameter)
    built.double()
    layer: Any
    for layer in built.layers:
        layer.dtype = torch.float64
    given = tokens(built.settings)
    x: Any = built.embedding(given) * built.settings.width**0.5 + built.position
    if built.first_norm is not None:
        x = norm(x, built.first_norm)
    layers: Any = [
        [(layer.attention_residual, layer.attention), (layer.feed_forward_residual, layer.feed_forward)]
        for layer in built.layers
    ]
    # Logits are in fp32.
    expected = FORMULAS[placement](x, layers, built.last_norm).float() @ built.embedding.weight.float().T
    torch.testing.assert_close(built(given), expected, rtol=1e-4, atol=1e-4)


def test_the_stream_begins_with_elements_of_variance_one_and_the_logits_too() -> None:
    settings = language_settings(width=256, heads=4, tied=False)
    built = LanguageModel(settings, 500)
    built.initialise(torch.zeros(1, 4, dtype=torch.long))
    assert (built.embedding.weight * settings.width**0.5).std().item() == pytest.approx(1, rel=0.02)
    assert built(torch.randint(500, (4, 16))).std().item() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("feed_forward", ["relu", "gelu", "swiglu"])
def test_matrices_are_xaviers_and_a_placements_own_are_scaled(feed_forward: str) -> None:
    common, own = (
        model(placement="deepnorm", feed_forward=feed_forward, initialisation=kind) for kind in ("common", "own")
    )
    beta = (8 * len(common.layers)) ** -0.25
    scaled = {"attention.value", "attention.output", "feed_forward.w1", "feed_forward.w2"}
    for (name, weight), own_weight in zip(common.layers[0].named_parameters(), own.layers[0].parameters(), strict=True):
        if weight.dim() > 1:
            part = name.removesuffix(".weight")
            torch.testing.assert_close(own_weight, weight * (beta if part in scaled else 1.0))
            assert weight.var().item() == pytest.approx(2 / sum(weight.shape), rel=0.15)


def test_admins_first_pass_belongs_to_its_own_initialisation() -> None:
    common, own = (model(placement="admin", initialisation=kind) for kind in ("common", "own"))
    name = "layers.1.feed_forward_residual.omega"
    assert common.state_dict()[name].unique().tolist() == [1.0]
    assert own.state_dict()[name].min() > 1.0
    assert own.training


def test_t_fixup_makes_its_embeddings_smaller() -> None:
    common, own = (model(placement="t-fixup", initialisation=kind) for kind in ("common", "own"))
    torch.testing.assert_close(own.embedding.weight, common.embedding.weight * (9 * len(own.layers)) ** -0.25)


@pytest.mark.parametrize("placement", ["post", "sub-ln", "resi-dual"])
def test_bf16_computes_nearly_the_same(placement: str) -> None:
    exact, rounded = (model(placement=placement, qk_norm=True, precision=kind) for kind in ("fp32", "bf16"))
    given = tokens(exact.settings)
    difference = (exact(given) - rounded(given)).abs().max().item()
    assert 0 < difference < 0.1
    assert {weight.dtype for weight in rounded.parameters()} == {torch.float32}


def test_dropout_acts_in_training_alone() -> None:
    built = model(dropout=0.5)
    given = tokens(built.settings)
    assert not torch.equal(built(given), built(given))
    built.eval()
    assert torch.equal(built(given), built(given))


WITHOUT_FAIRSEQ = """
import sys
for name in ("fairseq", "hydra", "snakemake", "sacrebleu", "sentencepiece", "spacy", "pandas", "matplotlib"):
    sys.modules[name] = None
import preln.language.demo, preln.language.training
"""


@pytest.mark.slow
def test_it_needs_no_fairseq() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_FAIRSEQ], check=True)
