"""The steps that are done in one go, against PyTorch's functions one by one, as compiled for each kind of processor."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from preln.fused import native
from preln.fused.attention import Padded, attend, visible
from preln.fused.dropout import Dropout, dropped_sum
from preln.fused.embedding import Embedding
from preln.fused.loss import smoothed_cross_entropy
from preln.fused.norm import LayerNorm, norm_of_sum
from preln.fused.search import Linear, Path, Source, attend_to_path, best_continuations
from tests.tensors import assert_equal, gradients, in_doubles, lowered, numbers, only

pytestmark = pytest.mark.numbers

LEVELS = ["none", "DEFAULT", "AVX2", "AVX512"]
"""Without compiled loops, and with those of each kind of processor up to the one at hand."""


@pytest.fixture(params=LEVELS[: LEVELS.index(native.LEVEL) + 1])
def loops(request: pytest.FixtureRequest) -> Iterator[str]:
    with only(request.param):
        yield request.param


def test_this_installation_has_compiled_loops() -> None:
    assert native.loops() != "PyTorch"


def reference_loss(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float) -> Any:
    """fairseq's formula, term by term."""
    log_p = torch.log_softmax(features @ weight.T + bias, dim=1)
    nll = -log_p[torch.arange(len(targets)), targets]
    each = smoothing / (len(weight) - 1)
    return ((1 - smoothing - each) * nll - each * log_p.sum(1)).sum(), nll.sum()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("targets", "vocabulary", "smoothing"), [(0, 11, 0.1), (1, 2, 0.0), (70, 301, 0.1)])
def test_the_loss_is_the_smoothed_cross_entropy(
    loops: str, targets: int, vocabulary: int, smoothing: float, dtype: torch.dtype
) -> None:
    features, weight, bias = (
        numbers(*shape, dtype=dtype) for shape in ((targets, 16), (vocabulary, 16), (vocabulary,))
    )
    labels = torch.arange(targets) % vocabulary
    loss, nll = smoothed_cross_entropy(features, weight, bias, labels, smoothing)
    doubles = in_doubles(features, weight, bias)
    expected, expected_nll = reference_loss(doubles[0], doubles[1], doubles[2], labels, smoothing)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-5 if dtype == torch.float32 else 5e-3, atol=1e-4)
    torch.testing.assert_close(nll.double(), expected_nll, rtol=1e-5 if dtype == torch.float32 else 5e-3, atol=1e-4)
    # The gradient of a share of the batch is that share.
    result = torch.autograd.grad(loss / 2, (features, weight, bias))
    assert_equal(result, lowered(torch.autograd.grad(expected / 2, doubles), dtype), dtype)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_the_loss_of_a_model_that_broke_is_not_finite(loops: str, broken: float) -> None:
    """Nor are its gradients, whichever of the scores it is that is broken."""
    for entry in range(4):
        features, weight = numbers(3, 4).detach(), numbers(40, 4)
        features[1, entry] = broken
        loss, nll = smoothed_cross_entropy(features, weight, None, torch.arange(3), 0.1)
        assert not math.isfinite(loss.item())
        assert not math.isfinite(float(nll))
        assert not torch.autograd.grad(loss, weight)[0].isfinite().all()


def test_the_gradient_of_the_loss_in_fp16_is_scaled_before_it_is_rounded() -> None:
    """A share of the smoothed labels is smaller than what fp16 has."""
    features, weight = (4 * numbers(4, 8)).detach(), numbers(20_000, 8).detach()
    features, weight = (x.half().requires_grad_() for x in (features, weight))
    targets, scale = torch.arange(4), 2.0**12
    loss, _ = smoothed_cross_entropy(features, weight, None, targets, 0.01)
    (result,) = torch.autograd.grad(scale * loss, weight)
    in_double = in_doubles(features, weight)
    expected, _ = reference_loss(in_double[0], in_double[1], torch.zeros(20_000, dtype=torch.double), targets, 0.01)
    (reference,) = torch.autograd.grad(scale * expected, in_double[1])
    # Half of the words have little more of a gradient than that share.
    small = reference.norm(dim=1) < reference.norm(dim=1).median()
    assert float((result[small] - reference[small]).norm() / reference[small].norm()) < 5e-3


def test_scores_that_are_far_apart_lose_nothing(loops: str) -> None:
    features, weight = torch.tensor([[1.0]]), torch.tensor([[0.0], [300.0], [-300.0]])
    loss, nll = smoothed_cross_entropy(features, weight, None, torch.tensor([2]), 0.0)
    assert (loss.item(), nll.item()) == (600.0, 600.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 8), (3, 5, 33), (40, 128)])
def test_the_norm_of_a_sum_is_that(loops: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x, f = numbers(*shape, dtype=dtype), numbers(*shape, dtype=dtype, seed=2)
    norm = torch.nn.LayerNorm(shape[-1]).to(dtype)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    doubles = in_doubles(x, f, norm.weight, norm.bias)
    expected = functional.layer_norm(doubles[0] + doubles[1], shape[-1:], doubles[2], doubles[3])
    result = norm_of_sum(x, f, 0.0, norm)
    assert_equal(result, expected.to(dtype), dtype)
    computed = gradients(result, x, f, norm.weight, norm.bias)
    assert_equal(computed, lowered(gradients(expected, *doubles), dtype), dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_norm_sums_the_gradients_of_gain_and_bias_over_thousands_of_tokens(dtype: torch.dtype) -> None:
    x, upstream = numbers(4096, 64, dtype=dtype), numbers(4096, 64, seed=2) + numbers(64, seed=3)
    norm = LayerNorm(64).to(dtype)
    doubles = in_doubles(x, norm.weight, norm.bias)
    expected = torch.autograd.grad(
        functional.layer_norm(doubles[0], (64,), doubles[1], doubles[2]), doubles, upstream.double()
    )
    computed = torch.autograd.grad(norm(x), [x, norm.weight, norm.bias], upstream.to(dtype))
    for gradient, exact in zip(computed, expected, strict=True):
        assert (gradient.double() - exact).norm().item() <= 5e-3 * exact.norm().item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_embedding_sums_the_gradients_of_thousands_of_positions_of_a_token(dtype: torch.dtype) -> None:
    tokens = torch.randint(4, (64, 64), generator=torch.Generator().manual_seed(1))
    upstream = (numbers(64, 64, 16, seed=2) + numbers(16, seed=3)).to(dtype)
    # Token 0 is padding, which has no gradient.
    embedding = Embedding(4, 16, padding_idx=0).to(dtype)
    (weight,) = in_doubles(embedding.weight)
    (expected,) = torch.autograd.grad(functional.embedding(tokens, weight, 0), weight, upstream.double())
    result = embedding(tokens)
    (computed,) = torch.autograd.grad(result, embedding.weight, upstream)
    assert torch.equal(result, functional.embedding(tokens, embedding.weight))
    assert not computed[0].any()
    assert (computed.double() - expected).norm().item() <= 5e-3 * expected.norm().item()


@given(p=st.floats(0.01, 0.9), seed=st.integers(0, 2**40))
def test_dropout_keeps_its_share_and_scales_it_up(p: float, seed: int) -> None:
    torch.manual_seed(seed)
    kept = Dropout(p).train()(torch.ones(20_000))
    torch.testing.assert_close(kept[kept > 0], torch.full((int((kept > 0).sum()),), 1 / (1 - p)))
    share = float((kept == 0).double().mean())
    assert abs(share - p) < 5.5 * math.sqrt(p * (1 - p) / len(kept))


def test_dropout_is_alike_at_every_place_and_in_every_draw(loops: str) -> None:
    torch.manual_seed(3)
    masks = torch.stack([Dropout(0.3).train()(torch.ones(64)) == 0 for _ in range(4000)]).double()
    deviation = math.sqrt(0.3 * 0.7 / 4000)
    assert float((masks.mean(0) - 0.3).abs().max()) < 5 * deviation
    # Neither neighbours, nor the same place in the next draw, know of one another.
    centred = masks - 0.3
    of_neighbours = (centred.T @ centred / 4000).fill_diagonal_(0.0)
    for product in (of_neighbours, centred[:-1].T @ centred[1:] / 4000):
        assert float(product.abs().max()) < 5.5 * 0.21 / math.sqrt(4000)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_is_dropped_has_no_gradient_and_the_rest_its_own(dtype: torch.dtype) -> None:
    x, f = numbers(30, 16, dtype=dtype), numbers(30, 16, dtype=dtype, seed=2)
    norm = torch.nn.LayerNorm(16).to(dtype)
    for normalised in (False, True):
        torch.manual_seed(4)
        result = norm_of_sum(x, f, 0.3, norm) if normalised else dropped_sum(x, f, 0.3)
        torch.manual_seed(4)
        mask = dropped_sum(torch.zeros_like(f), torch.ones_like(f), 0.3).detach()
        assert 0.2 < float((mask == 0).float().mean()) < 0.4
        expected = x + f * mask
        expected = functional.layer_norm(expected, (16,)) if normalised else expected
        assert_equal(result, expected, dtype)
        assert_equal(gradients(result, x, f), gradients(expected, x, f), dtype)


def reference_attention(packed: Tensor, of_source: Tensor | None, hidden: Tensor, heads: int) -> Tensor:
    """softmax(Q K^T / sqrt(d)) V, with -infinity where `hidden` is true, (sentences, queries, keys)."""
    parts = packed.chunk(3, -1) if of_source is None else (packed, *of_source.chunk(2, -1))
    query, key, value = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in parts)  # type: ignore[no-untyped-call]
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
    weights = scores.masked_fill(hidden[:, None], -math.inf).softmax(-1)
    return (weights @ value).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("length", "width", "heads"), [(1, 8, 2), (7, 32, 4), (33, 48, 2), (70, 128, 4)])
def test_self_attention(loops: str, length: int, width: int, heads: int, causal: bool, dtype: torch.dtype) -> None:
    packed = numbers(3, length, 3 * width, dtype=dtype)
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    hidden = (later if causal else torch.zeros_like(later)).expand(3, -1, -1)
    (double,) = in_doubles(packed)
    expected = reference_attention(double, None, hidden, heads)
    result = attend(packed, None, Padded(), Padded(), heads, causal, 0.0)
    assert_equal(result, expected.to(dtype), dtype)
    assert_equal(gradients(result, packed), lowered(gradients(expected, double), dtype), dtype)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_to_a_source_with_padding(loops: str, side: str, dtype: torch.dtype) -> None:
    queries, source = numbers(4, 6, 32, dtype=dtype), numbers(4, 19, 64, dtype=dtype)
    words = torch.tensor([19, 1, 16, 17])
    place = torch.arange(19).flip(0) if side == "left" else torch.arange(19)
    padding = place >= words[:, None]
    doubles = in_doubles(queries, source)
    expected = reference_attention(doubles[0], doubles[1], padding[:, None].expand(-1, 6, -1), 4)
    result = attend(queries, source, Padded(), Padded(visible(padding, queries)), 4, False, 0.0)
    assert_equal(result, expected.to(dtype), dtype)
    computed = gradients(result, queries, source)
    assert_equal(computed, lowered(gradients(expected, *doubles), dtype), dtype)
    assert not computed[1][padding].any()


@pytest.mark.parametrize("part", ["query", "key", "value"])
@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_the_attention_of_a_model_that_broke_is_not_finite(loops: str, part: str, broken: float) -> None:
    if loops == "none":
        pytest.skip("PyTorch's own attention is 0 for a query that is no number")
    packed = numbers(1, 5, 3 * 16).detach()
    packed[0, 2, ["query", "key", "value"].index(part) * 16 + 3] = broken
    result = attend(packed, None, Padded(), Padded(), 2, False, 0.0)
    assert not result[0, 2].isfinite().all()


def test_the_gradient_of_attention_to_a_part_of_a_tensor_is_that_of_a_copy(loops: str) -> None:
    wide = numbers(2, 7, 40)
    result = gradients(attend(wide[..., :24], None, Padded(), Padded(), 2, False, 0.0), wide)
    copy = wide[..., :24].detach().clone().requires_grad_()
    (copied,) = gradients(attend(copy, None, Padded(), Padded(), 2, False, 0.0), copy)
    assert_equal(result, (torch.nn.functional.pad(copied, (0, 16)),), torch.float32)


def test_dropped_weights_of_attention_are_those_of_its_gradient(loops: str) -> None:
    """By finite differences: whatever is dropped, the same is dropped on the way back."""
    packed = numbers(2, 5, 3 * 16)
    keys = torch.randn(2, 5, 48, generator=torch.Generator().manual_seed(8))

    def output(x: Tensor) -> Tensor:
        torch.manual_seed(6)
        return (attend(x, None, Padded(), Padded(), 4, True, 0.4) * keys[..., :16]).sum()

    (computed,) = torch.autograd.grad(output(packed), packed)
    direction = keys / keys.norm()
    with torch.no_grad():
        difference = (output(packed + 1e-2 * direction) - output(packed - 1e-2 * direction)) / 2e-2
    assert float((computed * direction).sum()) == pytest.approx(float(difference), rel=2e-3, abs=2e-3)
    torch.manual_seed(6)
    assert not torch.allclose(
        attend(packed, None, Padded(), Padded(), 4, True, 0.4), attend(packed, None, Padded(), Padded(), 4, True, 0.0)
    )


def test_attentions_dropout_leaves_its_mean_alone(loops: str) -> None:
    packed = numbers(1, 4, 3 * 8).detach()
    torch.manual_seed(1)
    drawn = torch.stack([attend(packed, None, Padded(), Padded(), 2, False, 0.3) for _ in range(4000)])
    expected = attend(packed, None, Padded(), Padded(), 2, False, 0.0)
    error = drawn.std(0) / math.sqrt(4000)
    assert bool(((drawn.mean(0) - expected).abs() < 5 * error).all())


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (7, 33, 16), (64, 24, 37), (19, 128, 301)])
def test_a_linear_map_that_is_laid_out_once_is_that(loops: str, rows: int, inner: int, columns: int) -> None:
    x, weight, bias = numbers(3, rows, inner), numbers(columns, inner), numbers(columns)
    with torch.no_grad():
        for of_sums in (bias, None):
            expected = functional.linear(x.double(), weight.double(), None if of_sums is None else of_sums.double())
            assert_equal(Linear(weight, of_sums)(x), expected.float(), torch.float32)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_hypotheses_attend_to_the_words_of_their_source(loops: str, heads: int) -> None:
    queries, source = numbers(3, 5, 32).detach(), numbers(3, 19, 64).detach()
    words = torch.tensor([19, 1, 16])
    padding = torch.arange(19).flip(0) >= words[:, None]
    of_queries, of_source = in_doubles(queries, source)
    expected = reference_attention(of_queries, of_source, padding[:, None].expand(-1, 5, -1), heads)
    of_all = Source(source, padding, heads)
    assert_equal(of_all.attend(queries), expected.float(), torch.float32)
    of_all.keep(lambda rows: rows[1:].contiguous())
    assert_equal(of_all.attend(queries[1:].contiguous()), expected[1:].float(), torch.float32)


@pytest.mark.parametrize(("beam", "steps", "heads"), [(1, 1, 2), (3, 7, 1), (5, 16, 2), (4, 33, 2)])
def test_each_hypothesis_attends_to_its_own_past(loops: str, beam: int, steps: int, heads: int) -> None:
    """Hypotheses that have changed places again and again."""
    draw = torch.Generator().manual_seed(steps)
    projected, past = numbers(2, beam, 3 * 32).detach(), numbers(2, steps + 4, beam, 2 * 32).detach()
    path = Path(projected, beam, steps + 2, heads)
    ways = [[[hypothesis] for hypothesis in range(beam)] for _ in range(2)]
    for _ in range(steps - 1):
        parents = torch.randint(beam, (2, beam), generator=draw)
        path.follow(parents)
        ways = [[[*of[p], h] for h, p in enumerate(row)] for of, row in zip(ways, parents.tolist(), strict=True)]
    result = attend_to_path(projected, past, path, heads)
    for sentence, hypothesis in itertools.product(range(2), range(beam)):
        earlier = [past[sentence, step, of] for step, of in enumerate(ways[sentence][hypothesis][:-1])]
        seen = torch.stack([*earlier, projected[sentence, hypothesis, 32:]])[None].double()
        query = projected[None, sentence, hypothesis : hypothesis + 1, :32].double()
        expected = reference_attention(query, seen, torch.zeros(1, 1, steps, dtype=torch.bool), heads)
        assert_equal(result[sentence, hypothesis], expected[0, 0].float(), torch.float32)
    assert_equal(past[:, steps - 1], projected[..., 32:], torch.float32)


@pytest.mark.parametrize("columns", [11, 64, 200])
def test_the_best_continuations_are_those_of_the_whole_vocabulary(loops: str, columns: int) -> None:
    scores, never = 3 * numbers(7, columns).detach(), torch.tensor([1, 4])
    # The best of all may not follow.
    scores[:, 4] = 20.0
    values, places = best_continuations(scores.clone(), 8, never)
    log_p = scores.double().log_softmax(dim=1)
    expected = log_p.index_fill(1, never, -torch.inf).topk(8)
    assert torch.equal(places, expected.indices)
    assert_equal(values, expected.values.float(), torch.float32)


def test_where_one_continuation_is_left_it_comes_first_with_its_log_probability(loops: str) -> None:
    scores, never, alone = 3 * numbers(5, 40).detach(), torch.tensor([1]), torch.tensor([0, 1, 0, 1, 1]).bool()
    values, places = best_continuations(scores.clone(), 6, never, (alone, 2))
    others, _ = best_continuations(scores.clone(), 6, never)
    assert places[alone, 0].tolist() == [2, 2, 2]
    assert_equal(values[alone, 0], scores.log_softmax(dim=1)[alone, 2], torch.float32)
    assert bool((values[alone, 1:] == -torch.inf).all())
    assert torch.equal(values[~alone], others[~alone])


def test_of_continuations_that_are_alike_each_is_found_once(loops: str) -> None:
    scores = torch.zeros(2, 90)
    scores[:, 70:75] = 1.0
    _, places = best_continuations(scores, 6, torch.tensor([72]))
    for row in places.tolist():
        assert set(row[:4]) == {70, 71, 73, 74}
        assert len(set(row)) == 6 and 72 not in row


def test_several_threads_compute_the_same() -> None:
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            torch.manual_seed(2)
            norm = torch.nn.LayerNorm(24)
            x, f, packed = numbers(17, 24), numbers(17, 24, seed=2), numbers(3, 9, 72)
            loss, _ = smoothed_cross_entropy(x, numbers(31, 24), None, torch.arange(17), 0.1)
            total = (
                loss
                + norm_of_sum(x, f, 0.2, norm).square().sum()
                + attend(packed, None, Padded(), Padded(), 4, True, 0.2).sum()
            )
            total = total + dropped_sum(x, f, 0.2).sum()
            results.append([total, *torch.autograd.grad(total, (x, f, packed, norm.weight))])
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(*results)
