"""Layouts of sentences: the padded one has the digits of the records."""

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import utils
from fairseq.models.transformer import TransformerEncoderBase
from fairseq.trainer import Trainer
from torch import Tensor

from benchmarks.samples import PAD, batches, dictionaries
from benchmarks.training import translation_trainer
from preln.fairseq_plugin.attention import project
from preln.fairseq_plugin.batches import Noted, words
from preln.fairseq_plugin.packing import Capacity
from preln.fairseq_plugin.transformer import PlacedTransformer, feed_forward
from preln.fused.attention import Padded, attend, visible
from preln.fused.loss import smoothed_cross_entropy
from preln.fused.products import linear
from preln.placements import PLACEMENTS
from preln.placements.base import as_it_is

pytestmark = pytest.mark.numbers

CAPACITY = Capacity(rows=(640, 640), sentences=64, longest=(150, 150))
SMALL = {"encoder_layers": 2, "decoder_layers": 2, "width": 32, "ffn_width": 64, "heads": 2}


@cache
def dictionary_folder() -> Path:
    return dictionaries(500)


def trainer(placement: str, precision: str = "fp32", **changes: Any) -> Trainer:
    """A trainer of a small model; its model and its loss are in training."""
    built = translation_trainer("preln", {**SMALL, "placement": placement, **changes}, precision, dictionary_folder())
    built.get_model().train()
    return built


@cache
def pairs() -> dict[str, Any]:
    """A batch of which both sides have padding: sources on the left, targets on the right."""
    (batch, *_) = batches("tiny", dictionary_folder())
    source, given = batch["net_input"]["src_tokens"], batch["net_input"]["prev_output_tokens"]
    source[0, :3] = source[1, :1] = given[2, -4:] = batch["target"][2, -4:] = PAD
    return {**batch, "ntokens": int(batch["target"].ne(PAD).sum())}


def gradients(model: PlacedTransformer, loss: Tensor) -> list[Tensor]:
    model.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]


def time_major(model: PlacedTransformer, batch: dict[str, Any]) -> Tensor:
    """The features of a batch's target, of shape (batch, length, width), computed in fairseq's order: what is between
    two layers is of shape (length, batch, width), and so is what a stack's last norm takes."""

    def attended(module: Any, keys: Tensor | None, seen: Tensor | None, causal: bool) -> Callable[..., Tensor]:
        def sublayer(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            projected = project(module, h, "qkv" if keys is None else "q")
            of_source = None if keys is None else project(module, keys.transpose(0, 1), "kv")
            heads = attend(projected, of_source, Padded(), Padded(seen), module.num_heads, causal, 0.0)
            return linear(inside(heads), module.out_proj.weight, module.out_proj.bias)

        return sublayer

    def through(stack: Any, x: Tensor, seen: Tensor | None, memory: Tensor | None) -> Tensor:
        causal = memory is not None
        x = x.transpose(0, 1)
        for layer in stack.layers:
            x = x.transpose(-3, -2)
            x = layer.attention_residual(x, attended(layer.self_attn, None, None if causal else seen, causal))
            if memory is not None:
                x = layer.encoder_attention_residual(x, attended(layer.encoder_attn, memory, seen, False))
            x = layer.feed_forward_residual(x, partial(feed_forward, layer)).transpose(-3, -2)
        return x if stack.layer_norm is None else stack.layer_norm(x)

    tokens, given = batch["net_input"]["src_tokens"], batch["net_input"]["prev_output_tokens"]
    padding = tokens.eq(PAD)
    x, _ = TransformerEncoderBase.forward_embedding(model.encoder, tokens)
    seen = visible(padding, x)
    memory = through(model.encoder, x * (1 - padding.unsqueeze(-1).type_as(x)), seen, None)
    y, _ = TransformerEncoderBase.forward_embedding(model.decoder, given)
    return through(model.decoder, y, seen, memory).transpose(0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("placement", ["post", "pre", "resi-dual", "peri"])
def test_padded_sentences_have_every_bit_of_fairseqs_order(placement: str, precision: str) -> None:
    built, batch = trainer(placement, precision, dropout=0.1), pairs()
    model, criterion = built.get_model(), built.get_criterion()
    utils.set_torch_seed(5)
    loss, _, _ = criterion(model, batch)
    computed = [loss, *gradients(model, loss)]
    utils.set_torch_seed(5)
    places = words(batch, PAD)
    features = time_major(model, batch).flatten(0, 1).index_select(0, places)
    labels = batch["target"].flatten().index_select(0, places)
    loss, _ = smoothed_cross_entropy(features, model.decoder.output_projection.weight, None, labels, criterion.eps)
    for ours, theirs in zip(computed, [loss, *gradients(model, loss)], strict=True):
        assert ours.equal(theirs)


def distance(expected: list[Tensor], computed: list[Tensor]) -> float:
    """The norm of the difference, relative to that of the first."""
    norm = torch.nn.utils.get_total_norm
    difference = [a.double() - b.double() for a, b in zip(expected, computed, strict=True)]
    return float(norm(difference) / norm([value.double() for value in expected]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("placement", "precision"),
    [
        *product(PLACEMENTS, ["double"]),
        # One of these has two streams, and one a norm on the embeddings.
        *product(("post", "pre", "resi-dual", "peri"), ["fp32", "bf16"]),
    ],
)
def test_a_packed_batch_has_the_loss_and_the_gradient_of_the_padded_one(placement: str, precision: str) -> None:
    tolerance = {"double": 1e-12, "fp32": 1e-5, "bf16": 2e-2}[precision]
    changes = {} if placement == "post" else {"qk_norm": True, "norm": "rms"}
    built = trainer(placement, "bf16" if precision == "bf16" else "fp32", dropout=0.0, **changes)
    model, criterion, batch = built.get_model(), built.get_criterion(), pairs()

    def computed(sample: dict[str, Any]) -> tuple[list[Tensor], list[Tensor]]:
        loss, tokens, log = criterion(model, sample)
        assert (tokens, log["ntokens"], log["nsentences"]) == (batch["ntokens"], tokens, batch["nsentences"])
        return [loss.detach(), log["nll_loss"]], gradients(model, loss)

    if precision == "double":
        model.double()
    padded_sums, padded_gradients = computed(batch)
    # Without its padding, and with a tail.
    sums, packed_gradients = computed(Noted(dict, PAD, (CAPACITY,))(batch))
    assert distance(padded_sums, sums) < tolerance
    model.double()
    _, exact = computed(batch)
    # Gradients in bf16 differ from the exact ones by some 2%, and by how much depends on the processor: as much is
    # right for the packed batch as for the padded one.
    assert distance(exact, packed_gradients) < max(tolerance, 1.5 * distance(exact, padded_gradients))
