"""The model of the proofs, and what is measured on it, against the lemmas and against independent computations."""

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from preln.config import ExactTheory, Placement
from preln.placements import PAPER, PLACEMENTS
from preln.placements.base import Place, Stack
from preln.theory import lemmas
from preln.theory.exact import ExactLayer, ExactStack, sequence_loss
from preln.theory.measurements import UNIT_OUTPUT, Measurement
from preln.theory.observe import excess_quantile, excess_share, square_norms, sums_of

pytestmark = pytest.mark.numbers


def generator(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def standard_error(values: Tensor) -> float:
    return float(values.std() / math.sqrt(len(values)))


def measure(stack: Stack, placement: Placement, width: int, depth: int, length: int, seed: int) -> list[Measurement]:
    measured = lemmas.Pass.draw(stack, placement, width, depth, length, seed)
    return [*measured.hidden_states(), *measured.gradients()]


def predicted(placement: Placement, layer: int, stack: Stack) -> tuple[float, float]:
    """Lemma 2's range of E||x||^2 / d."""
    lemma = PLACEMENTS[placement].predictions.square_norm
    assert lemma is not None
    return lemma(layer, stack)


def value_of(rows: list[Measurement], **wanted: object) -> float:
    (result,) = (row.value for row in rows if all(getattr(row, key) == value for key, value in wanted.items()))
    return result


def gradient(rows: list[Measurement], layer: int) -> float:
    """The norm of the gradient of a layer's W^2."""
    return value_of(rows, variant="", layer=layer, matrix="W2", quantity="gradient_norm")


def norm(v: Tensor) -> Tensor:
    return nn.functional.layer_norm(v, v.shape[-1:])


def attend(h: Tensor, seen: Tensor, causal: bool = False) -> Tensor:
    """Softmax attention with W^Q = W^K = 0."""
    queries, keys = torch.zeros_like(h), torch.zeros_like(seen)
    return nn.functional.scaled_dot_product_attention(queries, keys, seen, is_causal=causal)


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_an_encoder_layer_is_the_papers_table_1(placement: Placement) -> None:
    layer = ExactLayer(16, placement, Place("encoder", 1, "self-attention", 1, 0), generator())
    x = torch.randn(2, 4, 16, generator=generator(2))

    def attention(v: Tensor) -> Tensor:
        return attend(v, v) @ layer.value

    def feed_forward(v: Tensor) -> Tensor:
        return torch.relu(v @ layer.w1) @ layer.w2

    if placement == "post":
        x3 = norm(x + attention(x))
        expected = norm(x3 + feed_forward(x3))
    else:
        x3 = x + attention(norm(x))
        expected = x3 + feed_forward(norm(x3))
    torch.testing.assert_close(layer(x), expected)


def test_a_decoder_layer_attends_to_the_past_and_to_the_encoders_output() -> None:
    layer = ExactLayer(8, "post", Place("decoder", 1, "self-attention", 1, 1), generator())
    x, memory = torch.randn(2, 3, 8, generator=generator(2)), torch.randn(2, 6, 8, generator=generator(3))
    x1 = norm(x + attend(x, x, causal=True) @ layer.value)
    x2 = norm(x1 + attend(x1, memory) @ layer.encoder_value)
    expected = norm(x2 + torch.relu(x2 @ layer.w1) @ layer.w2)
    torch.testing.assert_close(layer(x, memory), expected)


def test_the_loss_is_the_mean_over_positions_of_minus_log_softmax() -> None:
    states, output = torch.randn(3, 8, generator=generator()), torch.randn(5, 8, generator=generator(2))
    labels = torch.tensor([4, 0, 2])
    probabilities = (states @ output.T).softmax(dim=1)[torch.arange(3), labels]
    torch.testing.assert_close(sequence_loss(states, labels, output), -probabilities.log().mean())


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_the_sums_observed_are_those_of_table_1(placement: Placement) -> None:
    model = ExactStack(8, 3, placement, "encoder", generator())
    x = torch.randn(4, 8, generator=generator(2))
    with sums_of(model) as sums:
        model(x)
    for layer, (observed,) in zip(model.layers, sums, strict=True):
        output = layer(x)
        # Post-LN's next state is the normalised sum, Pre-LN's the sum itself.
        after = norm(observed) if placement == "post" else observed
        torch.testing.assert_close(after, output)
        x = output


def test_a_layer_of_deepnorm_has_the_constants_of_an_encoder_alone_and_scales_the_output_of_attention_too() -> None:
    first = Place("encoder", 1, "self-attention", 3, 0)
    layer, unscaled = (ExactLayer(8, name, first, generator()) for name in ("deepnorm", "post"))
    # (2 N)^(1/4) and (8 N)^(-1/4) for N = 3 layers.
    alpha, beta = 6**0.25, 24**-0.25
    x = torch.randn(4, 8, generator=generator(2))
    h = norm(alpha * x + beta**2 * x.mean(dim=0) @ unscaled.value)
    expected = norm(alpha * h + beta**2 * (h @ unscaled.w1).relu() @ unscaled.w2)
    torch.testing.assert_close(layer(x), expected)


def test_boundedness_of_a_chi_square_is_that_of_its_distribution() -> None:
    values = square_norms(torch.randn(200000, 64, generator=generator()))
    chi2 = torch.distributions.Chi2(64.0)
    # P(chi2_64 > 1.1 * 64), from the incomplete gamma function.
    share = 1 - float(torch.special.gammainc(torch.tensor(32.0), torch.tensor(1.1 * 64 / 2)))
    assert excess_share(values, float(values.mean())) == pytest.approx(share, abs=4 * math.sqrt(share / 200000))
    quantile = float(chi2.sample((200000,)).quantile(0.875)) / 64 - 1
    assert excess_quantile(values) == pytest.approx(quantile, abs=0.004)


@pytest.mark.slow
@pytest.mark.parametrize(("placement", "seeds"), [("post", 60), ("pre", 30)])
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_lemma_2_holds_in_every_layer(stack: Stack, placement: Placement, seeds: int) -> None:
    norms = torch.tensor([
        [value_of(rows, layer=layer, quantity="square_norm") for layer in range(1, 5)]
        for rows in (measure(stack, placement, 64, 4, 16, seed) for seed in range(seeds))
    ])  # fmt: skip
    for layer, values in enumerate(norms.T, start=1):
        low, high = predicted(placement, layer, stack)
        assert low - 4 * standard_error(values) < float(values.mean()) < high + 4 * standard_error(values)


def test_the_bounds_of_lemma_2_are_reached() -> None:
    """By attention that adds nothing, to many independent positions, and all, to a single position."""
    width, layers = 64, 3
    for length, bound in ((1, 1), (4000, 0)):
        sums = []
        for seed in range(20):
            model = ExactStack(width, layers, "pre", "encoder", generator(seed))
            with torch.no_grad(), sums_of(model) as seen:
                model(torch.randn(length, width, generator=generator(seed + 100)))
            sums.append(float(square_norms(seen[0][0]).mean()))
        # The first layer's input has norm 1 by its distribution, so the first layer is exact.
        expected = predicted("pre", 1, "encoder")[bound]
        values = torch.tensor(sums)
        assert abs(float(values.mean()) - expected) < 4 * standard_error(values)


@given(st.integers(3, 40), st.floats(0.3, 100), st.integers(0, 1000))
def test_lemma_3_is_the_largest_singular_value_of_autograds_jacobian(width: int, scale: float, seed: int) -> None:
    x = scale * torch.randn(width, generator=generator(seed), dtype=torch.float64)
    norm = nn.LayerNorm(width, eps=0.0, elementwise_affine=False)
    jacobian: Tensor = torch.autograd.functional.jacobian(norm, x)  # type: ignore[no-untyped-call]
    closed = float(lemmas.jacobian_norm(x))
    assert float(torch.linalg.matrix_norm(jacobian, ord=2)) == pytest.approx(closed, rel=1e-9)
    assert lemmas.spectral_norm(norm, x) == pytest.approx(closed, rel=1e-9)


def test_the_jacobian_of_the_trained_models_norm_differs_by_its_epsilon_alone() -> None:
    rows = measure("encoder", "pre", 32, 3, 8, seed=1)
    for layer in (1, 2, 3):
        measured = value_of(rows, layer=layer, quantity="jacobian_norm")
        assert measured == pytest.approx(value_of(rows, layer=layer, quantity="jacobian_closed_form"), rel=1e-4)


@pytest.mark.slow
def test_lemma_1_holds_in_every_layer_of_the_model() -> None:
    for placement in ("post", "pre"):
        values = torch.tensor([
            [value_of(rows, layer=layer, quantity="relu_square_norm") for layer in (1, 4)]
            for rows in (measure("encoder", placement, 64, 4, 16, seed) for seed in range(60))
        ])  # fmt: skip
        lemma = PLACEMENTS[placement].predictions.relu_square_norm
        assert lemma is not None
        for of_layer in values.T:
            assert abs(float(of_layer.mean()) - lemma) < 4 * standard_error(of_layer)


def test_boundedness_is_of_the_mean_over_all_seeds() -> None:
    setting = ExactTheory(width=16, depth=2, depths=(1, 2, 4), widths=(8, 12, 16), length=4)
    rows = [row for row in lemmas.by_layer(setting, PAPER, 3) if (row.stack, row.placement) == ("encoder", "post")]
    sums = [lemmas.Pass.draw("encoder", "post", 16, 2, 4, seed).sums[1] for seed in (1, 2, 3)]
    norms = [[float(x.square().mean()) for x in of_seed] for of_seed in sums]
    mean = sum(sum(of_seed) for of_seed in norms) / 12
    for seed, of_seed in enumerate(norms, start=1):
        share = sum(norm > 1.1 * mean for norm in of_seed) / 4
        assert value_of(rows, layer=2, quantity="excess_share", seed=seed) == pytest.approx(share)


def test_gradients_are_the_slopes_of_the_loss() -> None:
    depth, width, length, seed = 3, 16, 4, 7
    measured = gradient(measure("encoder", "pre", width, depth, length, seed), depth)
    draws = generator(seed)
    model = ExactStack(width, depth, "pre", "encoder", draws).double()
    directions = torch.randn(lemmas.VOCABULARY, width, generator=draws).double()
    vectors, labels = lemmas.input_sequence(length, width, draws)

    def loss() -> Tensor:
        return sequence_loss(model(vectors.double()), labels, directions / math.sqrt(width))

    weight = model.layers[-1].get_parameter("w2")
    with torch.no_grad():
        slopes = torch.empty_like(weight)
        for i in range(width):
            for j in range(width):
                weight[i, j] += 1e-5
                above = loss()
                weight[i, j] -= 2e-5
                slopes[i, j] = (above - loss()) / 2e-5
                weight[i, j] += 1e-5
    assert measured == pytest.approx(float(slopes.norm()), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("placement", "ratio", "tolerance"), [("post", 1, 0.15), ("pre", 0.5, 0.1)])
def test_pre_lns_last_gradient_falls_with_the_root_of_the_depth_and_post_lns_does_not(
    placement: Placement, ratio: float, tolerance: float
) -> None:
    shallow, deep = (
        sum(gradient(measure("encoder", placement, 48, depth, 16, seed), depth) for seed in range(12))
        for depth in (4, 16)
    )
    assert deep / shallow == pytest.approx(ratio, abs=tolerance)


@pytest.mark.parametrize(("stack", "factor"), [("encoder", 1.0), ("decoder", math.sqrt(2))])
def test_post_lns_gradient_decays_through_a_decoder_and_not_through_an_encoder(stack: Stack, factor: float) -> None:
    """In an encoder, appendix F's factor of (2/3)^(1/2) is made up for by the branch: (1 + 1/2)^(1/2). In a decoder,
    where the encoder's positions are alike, the attention over them doubles the squared norm, and gives no gradient
    back."""
    measured = [measure(stack, "post", width=64, depth=6, length=32, seed=seed) for seed in range(20)]
    growths = [(gradient(rows, 6) / gradient(rows, 1)) ** (1 / 5) for rows in measured]
    assert sum(growths) / len(growths) == pytest.approx(factor, abs=0.1)


def without_its_gradient(residual: nn.Module, given: tuple[Any, Any]) -> tuple[Any, Any]:
    """A hook with which a connection's branch gives no gradient to what it reads; its output is as before."""
    x, sublayer = given
    return x, lambda h: sublayer(h.detach())


@pytest.mark.parametrize(
    ("cut", "squared"),
    [
        (["feed_forward_residual"], 3 / 2),
        (["attention_residual"], 2),
        (["feed_forward_residual", "attention_residual"], 3),
    ],
)
def test_without_a_branchs_gradient_post_lns_decays_by_the_norm_behind_it(cut: list[str], squared: float) -> None:
    """Appendix F's factor is that of the LayerNorm behind the feed-forward branch. It is seen if the branch gives no
    gradient; and so is that of the LayerNorm behind the attention, in deep layers, where the positions are alike."""
    middle, last = 6, 12
    logarithms = []
    for seed in range(40):
        draw = generator(seed)
        model = ExactStack(64, last, "post", "encoder", draw)
        for layer in model.layers:
            for name in cut:
                getattr(layer, name).register_forward_pre_hook(without_its_gradient)
        states = model(torch.randn(16, 64, generator=draw))
        loss = sequence_loss(states, torch.arange(16), torch.randn(100, 64, generator=draw) / 8)
        norms = [
            gradient.norm()
            for gradient in torch.autograd.grad(loss, [layer.get_parameter("w2") for layer in model.layers])
        ]
        logarithms.append(math.log(norms[last - 1] / norms[middle - 1]) / (last - middle))

    assert math.exp(2 * sum(logarithms) / len(logarithms)) == pytest.approx(squared, rel=0.1)


def test_the_sweeps_measure_every_case_once() -> None:
    setting = ExactTheory(width=16, depth=3, depths=(1, 2, 4), widths=(8, 12, 16), length=4)
    layers = lemmas.by_layer(setting, PAPER, seeds=2)
    cases = {(r.stack, r.placement, r.seed, r.layer, r.matrix, r.quantity, r.variant) for r in layers}
    assert len(cases) == len(layers)
    every = set(itertools.product(("encoder", "decoder"), ("post", "pre"), (1, 2)))
    assert {(r.stack, r.placement, r.seed) for r in layers} == every
    depths = lemmas.last_layers(setting, PAPER, 2, "depths")
    assert {r.depth for r in depths} == {1, 2, 4}
    assert all(r.layer == r.depth for r in depths)
    widths = {(r.width, r.variant) for r in lemmas.last_layers(setting, PAPER, 2, "widths") if r.matrix}
    assert widths == set(itertools.product((8, 12, 16), ("", UNIT_OUTPUT)))


def test_a_seed_says_everything() -> None:
    first, again, another = (measure("decoder", "pre", 16, 2, 4, seed) for seed in (1, 1, 2))
    assert first == again
    assert [row.value for row in first] != [row.value for row in another]
