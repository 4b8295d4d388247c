"""Every placement: its formula, its beginning, its depth, its fast path, and its models."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from preln.config import ExactTheory
from preln.fairseq_plugin.attention import attention
from preln.fairseq_plugin.bert import PlacedBert
from preln.fairseq_plugin.initialisation import frequent_words, initialise
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.fused import native
from preln.fused.attention import Padded
from preln.fused.norm import RMSNorm
from preln.placements import PLACEMENTS
from preln.placements.base import Place, Residual, Shape, Stack, places
from preln.theory import lemmas
from preln.theory.exact import ExactStack
from tests.conftest import settings
from tests.models import build, dictionary, drawn, fairseqs, sentences, together
from tests.tensors import only
from tests.unit import test_transformer
from tests.unit.formulas import FORMULAS, Layers, Toy, norm

pytestmark = pytest.mark.numbers

WIDTH, INNER = 8, 12
EVERY = pytest.mark.parametrize("placement", PLACEMENTS)
DEPTHS = {"encoder": (8, 4), "decoder": (8, 4), "encoder alone": (8, 0)}


def test_no_two_have_one_label_or_one_look() -> None:
    for fields in (["label"], ["colour", "marker", "hatch"]):
        looks = {tuple(getattr(placement, field) for field in fields) for placement in PLACEMENTS.values()}
        assert len(looks) == len(PLACEMENTS)


def places_of(of: nn.Module) -> list[Place]:
    return [module.place for module in of.modules() if isinstance(module, Residual)]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_every_residual_connection_of_a_model_knows_its_place_of_each_sublayer_of_each_layer(stack: Stack) -> None:
    draws = torch.Generator().manual_seed(1)
    trained, exact = build(PlacedTransformer, "pre"), ExactStack(8, 4, "pre", stack, draws, attended=True)
    assert places_of(trained) == list(places(3, 2))
    assert set(places_of(exact)) == {place for place in places(4, 4) if place.stack == stack}
    assert [(place.stack, place.layer, place.sublayer) for place in places(2, 1)] == [
        *(("encoder", layer, sublayer) for layer in (1, 2) for sublayer in ("self-attention", "feed-forward")),
        *(("decoder", 1, sublayer) for sublayer in ("self-attention", "cross-attention", "feed-forward")),
    ]
    assert {(place.encoder_layers, place.decoder_layers) for place in places(2, 1)} == {(2, 1)}


def randomised(module: Any) -> Any:
    """The module with random numbers in all its parameters, vectors and factors among them."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def stack_of(name: str, kind: str, norm: str) -> tuple[Layers, Any, list[Tensor]]:
    """The connections of a stack with sub-layers, what is behind the last, and all that has a gradient."""
    torch.manual_seed(1)
    stack = kind.split()[0]
    shape = Shape(WIDTH, INNER, norm="rms" if norm == "rms" else "layer")
    flat, leaves = [], []
    for place in places(*DEPTHS[kind]):
        if place.stack == stack:
            inner = INNER if place.sublayer == "feed-forward" else WIDTH
            toy = Toy(*(torch.randn(*sizes).double().requires_grad_() for sizes in ((WIDTH, inner), (inner, WIDTH))))
            connection = randomised(PLACEMENTS[name].connection(shape, place)).double()
            flat.append((connection, toy))
            leaves += [toy.a, toy.b, *connection.parameters()]
    end: Any = PLACEMENTS[name].stack_norm(shape)
    if end is not None:
        leaves += randomised(end).double().parameters()
    layers = [list(layer) for _, layer in itertools.groupby(flat, key=lambda placed: placed[0].place.layer)]
    return layers, end, leaves


@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("kind", DEPTHS)
@pytest.mark.parametrize("placement", FORMULAS)
def test_it_is_its_formula(placement: str, kind: str, norm: str) -> None:
    layers, end, leaves = stack_of(placement, kind, norm)
    x = torch.randn(3, 2, WIDTH).double().requires_grad_()
    actual: Any = x
    for connection, toy in itertools.chain.from_iterable(layers):
        actual = connection(actual, toy)
    actual = actual if end is None else end(actual)
    expected = FORMULAS[placement](x, layers, end)
    torch.testing.assert_close(actual, expected)
    weights = torch.randn_like(expected)
    torch.testing.assert_close(
        *(torch.autograd.grad((output * weights).sum(), [x, *leaves]) for output in (actual, expected))
    )


@EVERY
def test_it_is_compared_with_its_equation_here_or_in_a_test_of_its_own(placement: str) -> None:
    module = PLACEMENTS[placement].residual.__module__.rpartition(".")[2]
    assert placement in FORMULAS or Path(__file__).with_name(f"test_{module}.py").exists()


def connection(name: str, place: Place) -> Any:
    return PLACEMENTS[name].connection(Shape(WIDTH, INNER), place)


def exact(name: str, depth: int = 4) -> Any:
    return ExactStack(WIDTH, depth, name, "encoder", torch.Generator().manual_seed(1))


def test_rezero_begins_as_the_identity_and_mix_ln_of_three_layers_is_pre_ln() -> None:
    x = torch.randn(5, WIDTH)
    torch.testing.assert_close(exact("rezero")(x), x, rtol=0.0, atol=0.0)
    torch.testing.assert_close(exact("mix-ln", depth=3)(x), exact("pre", depth=3)(x))


@pytest.mark.parametrize(
    ("placement", "depths", "stack", "alpha", "beta"),
    [
        ("deepnorm", (6, 6), "encoder", 1.4179, 0.4970),
        ("deepnorm", (6, 6), "decoder", 2.0598, 0.3433),
        ("deepnorm", (12, 0), "encoder", 2.2134, 0.3195),
        # sqrt(ln(18) ln(12) / 3), sqrt(ln 18) and sqrt(ln 24).
        ("sub-ln", (6, 6), "encoder", 1.0, 1.5473),
        ("sub-ln", (6, 6), "decoder", 1.0, 1.7001),
        ("sub-ln", (12, 0), "encoder", 1.0, 1.7827),
    ],
)
def test_deepnorm_and_sub_ln_have_the_factors_of_their_papers(
    placement: str, depths: Any, stack: Any, alpha: float, beta: float
) -> None:
    residual = connection(placement, Place(stack, 1, "feed-forward", *depths))
    assert getattr(residual, "alpha", 1.0) == pytest.approx(alpha, abs=2e-4)
    assert residual.initial_scale == pytest.approx(beta, abs=2e-4)


def test_t_fixup_has_neither_norms_nor_parameters_and_the_scales_of_its_paper() -> None:
    encoder, decoder = (connection("t-fixup", Place(of, 2, "feed-forward", 6, 6)) for of in ("encoder", "decoder"))
    assert not list(encoder.parameters())
    assert encoder.initial_scale == pytest.approx(0.4281, abs=1e-4)
    assert decoder.initial_scale == pytest.approx(0.3689, abs=1e-4)
    plain, scaled = (model(name) for name in ("rezero", "t-fixup"))
    assert scaled.encoder.layer_norm is None
    torch.testing.assert_close(
        scaled.encoder.embed_tokens.weight, 0.48549 * plain.encoder.embed_tokens.weight, rtol=1e-3, atol=0.0
    )


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_peri_lns_square_norm_grows_by_the_same_amount_each_layer(stack: Any) -> None:
    predicted = PLACEMENTS["peri"].predictions.square_norm
    assert predicted is not None
    rows = lemmas.by_layer(ExactTheory(width=128, depth=4, length=32), ["peri"], 6)
    for layer in range(1, 5):
        values = [row.value for row in rows if (row.quantity, row.stack, row.layer) == ("square_norm", stack, layer)]
        assert len(values) == 6
        assert sum(values) / 6 == pytest.approx(predicted(layer, stack)[0], rel=0.1)


def test_peri_ln_normalises_the_embeddings_of_both_stacks() -> None:
    peri = model("peri")
    for stack in (peri.encoder, peri.decoder):
        assert isinstance(stack.layernorm_embedding, nn.LayerNorm)
    assert model("sandwich").encoder.layernorm_embedding is None


def test_admins_factors_are_the_deviations_of_the_sums_without_norms() -> None:
    x = torch.randn(64, WIDTH)
    stack = exact("admin")
    stack.profile(x)
    post, variance = exact("post"), 1.0
    with torch.no_grad():
        layer: Any
        f: Any
        for layer, post_layer in zip(stack.layers, post.layers, strict=True):
            for residual, f in (
                (layer.attention_residual, lambda h, of=post_layer: of.attend(h) @ of.value),
                (layer.feed_forward_residual, lambda h, of=post_layer: (h @ of.w1).relu() @ of.w2),
            ):
                torch.testing.assert_close(residual.omega, torch.full([WIDTH], math.sqrt(variance)), rtol=1e-4, atol=0)
                added = f(x)
                scaled = math.sqrt(variance) * x
                variance = float(scaled.var(correction=0) + added.var(correction=0))
                x = norm(scaled + added, residual.norm)
    # The pass is over: nothing is measured any more.
    before = [parameter.clone() for parameter in stack.parameters()]
    stack(torch.randn(64, WIDTH))
    assert all(torch.equal(parameter, after) for parameter, after in zip(before, stack.parameters(), strict=True))


def test_the_first_pass_is_part_of_a_models_beginning_and_draws_nothing_of_the_seed() -> None:
    admin, after_admin = model("admin"), torch.rand(3)
    again, post, after_post = model("admin"), model("post"), torch.rand(3)
    assert torch.equal(after_admin, after_post)
    weights, post_weights = admin.state_dict(), post.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in again.state_dict().items())
    assert all(torch.equal(weights[name], weight) for name, weight in post_weights.items())
    for stack in (admin.encoder, admin.decoder):
        connections: list[Any] = [part for part in stack.modules() if isinstance(part, Residual)]
        factors = [part.omega[0].item() for part in connections]
        assert factors[0] == 1.0 and factors == sorted(factors) and factors[-1] > 1.2
    assert admin.training


def test_words_of_the_first_pass_are_as_frequent_as_in_the_text() -> None:
    words = dictionary()
    words.count = [0] * len(words)
    words.count[10], words.count[11] = 30, 10
    result = frequent_words(words, 100, 50)
    assert set(result[:, :-1].flatten().tolist()) == {10, 11}
    assert float((result == 10).double().mean()) == pytest.approx(0.735, abs=0.03)
    assert (result[:, -1] == words.eos()).all()


def model(
    name: str, depth: int = 2, norm: Any = "layer", qk_norm: bool = False, random: bool = False, width: int = 32
) -> Any:
    """A translation model as its training begins, or with random numbers in what is no matrix."""
    depths = (depth, depth)
    built = drawn(PlacedTransformer, name, heads=2, depths=depths, width=width, norm=norm, qk_norm=qk_norm)
    initialise(built, settings(placement=name))
    if random:
        for parameter in built.parameters():
            if parameter.dim() == 1:
                nn.init.normal_(parameter, std=0.5)
    return built


BATCH = {
    "src_tokens": torch.tensor([[1, 1, 5, 6, 2], [7, 8, 9, 10, 2]]),
    "src_lengths": torch.tensor([3, 5]),
    "prev_output_tokens": torch.tensor([[2, 11, 12, 13], [2, 14, 15, 16]]),
}


def loss(of: Any) -> Tensor:
    logits, _ = of(**BATCH)
    total: Tensor = logits.log_softmax(-1)[..., 7].sum()
    return total


@pytest.mark.slow
@EVERY
def test_the_gradient_of_every_parameter_is_finite_at_depth_64(placement: str) -> None:
    deep = model(placement, depth=64, width=16, qk_norm=True)
    gradients = torch.autograd.grad(loss(deep), list(deep.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.skipif(native.loops() == "PyTorch", reason="there are no compiled loops to compare with")
@pytest.mark.parametrize(("norm", "qk_norm"), [("layer", False), ("rms", True)])
@EVERY
def test_the_fast_path_is_the_plain_one(placement: str, norm: str, qk_norm: bool) -> None:
    built = model(placement, norm=norm, qk_norm=qk_norm, random=True)
    losses, gradients = [], []
    for level in (native.LEVEL, "none"):
        with only(level):
            losses.append(loss(built))
            gradients.append(torch.autograd.grad(losses[-1], list(built.parameters())))
    torch.testing.assert_close(*losses, rtol=1e-5, atol=1e-4)
    for fast, plain in zip(*gradients, strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-3, atol=1e-4 * float(plain.abs().max() + 1e-2))


@EVERY
def test_beam_search_finds_what_fairseqs_own_finds(placement: str) -> None:
    built = model(placement, qk_norm=True, random=True).eval()
    nn.init.normal_(built.decoder.embed_tokens.weight, std=0.4)
    sources = sentences(1)[:4]
    assert together(built, sources, 3, 1.0) == [fairseqs(built, source, 3, 1.0) for source in sources]


@pytest.mark.parametrize(("norm", "qk_norm"), [("layer", False), ("rms", True)])
@EVERY
def test_a_bert_of_it_learns_with_every_parameter(placement: str, norm: str, qk_norm: bool) -> None:
    given = test_transformer.options(placement, norm=norm, qk_norm=qk_norm)
    built = PlacedBert.build_model(given, test_transformer.task())
    tokens = torch.tensor([[0, 7, 8, 9, 10, 2], [0, 11, 12, 2, 1, 1]])
    logits, _ = built(tokens)
    logits.logsumexp(-1).sum().backward()
    assert all(parameter.grad is not None for parameter in built.parameters())
    own = [part for part in built.encoder.sentence_encoder.layers.modules() if isinstance(part, nn.LayerNorm | RMSNorm)]
    assert all(isinstance(part, RMSNorm) is (norm == "rms") for part in own)


@EVERY
def test_the_model_of_the_proofs_measures_it(placement: str) -> None:
    rows = lemmas.by_layer(ExactTheory(width=16, depth=3, length=8), [placement], 1)
    assert all(math.isfinite(row.value) for row in rows)
    gradients = [row.value for row in rows if row.quantity == "gradient_norm"]
    # With factors of 0, no matrix of a sub-layer has a gradient.
    assert any(gradients) is (placement != "rezero")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rmsnorm_is_its_formula(dtype: torch.dtype) -> None:
    rms = randomised(RMSNorm(WIDTH)).to(dtype)
    x = torch.randn(5, WIDTH).to(dtype)
    expected = norm(x.double(), rms.double())
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(rms.to(dtype)(x).double(), expected, rtol=tolerance, atol=1e-5)


def test_the_scores_of_qk_norm_are_their_formula_and_its_scale_begins_with_the_root_of_a_heads_width() -> None:
    of = model("pre", qk_norm=True)
    scales = [part.qk_norm.scale.item() for part in of.modules() if getattr(part, "qk_norm", None) is not None]
    # Two attentions to oneself in each stack, and two to the encoder's output.
    assert scales == pytest.approx([4.0] * 6)
    layer = of.encoder.layers[0]
    nn.init.constant_(layer.self_attn.qk_norm.scale, 2.5)
    h = torch.randn(2, 5, 32)
    query, key, value = (
        getattr(layer.self_attn, f"{name}_proj")(h).unflatten(-1, (2, 16)).transpose(1, 2) for name in "qkv"
    )
    cosine = torch.nn.functional.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
    expected = layer.self_attn.out_proj(((2.5 * cosine).softmax(-1) @ value).transpose(1, 2).flatten(2))
    seen: list[Tensor] = []
    layer.attention_residual.norm = nn.Identity()

    def observed(x: Tensor) -> Tensor:
        seen.append(attention(layer.self_attn, x, Padded()))
        return x

    layer.attention_residual(h, observed)
    torch.testing.assert_close(seen[0], expected, rtol=1e-4, atol=1e-5)


@EVERY
def test_rmsnorm_takes_the_place_of_every_layernorm_of_a_translation_model(placement: str) -> None:
    layer, rms = (
        [part for part in model(placement, norm=kind).modules() if isinstance(part, nn.LayerNorm | RMSNorm)]
        for kind in ("layer", "rms")
    )
    assert len(layer) == len(rms)
    assert not any(isinstance(part, nn.LayerNorm) for part in rms)
