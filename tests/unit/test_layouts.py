"""Layouts of sentences: the padded one has the digits of the records."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from fairseq import utils
from fairseq.models.transformer import TransformerEncoderBase
from fairseq.trainer import Trainer
from torch import Tensor

from benchmarks.samples import PAD, batches, dictionaries
from benchmarks.training import translation_trainer
from preln.fairseq_plugin.attention import project
from preln.fairseq_plugin.batches import words
from preln.fairseq_plugin.transformer import PlacedTransformer, feed_forward
from preln.fused.attention import Padded, attend, visible
from preln.fused.loss import smoothed_cross_entropy
from preln.fused.products import linear
from preln.placements.base import as_it_is

pytestmark = pytest.mark.numbers

SMALL = {"encoder_layers": 2, "decoder_layers": 2, "width": 32, "ffn_width": 64, "heads": 2}


def trainer(placement: str, precision: str = "fp32", **changes: Any) -> Trainer:
    """A trainer of a small model; its model and its loss are in training."""
    built = translation_trainer("preln", {**SMALL, "placement": placement, **changes}, precision, dictionaries(500))
    built.get_model().train()
    return built


def pairs() -> dict[str, Any]:
    """A batch of which both sides have padding: sources on the left, targets on the right."""
    (batch, *_) = batches("tiny", dictionaries(500))
    source, given = batch["net_input"]["src_tokens"], batch["net_input"]["prev_output_tokens"]
    source[0, :3] = source[1, :1] = given[2, -4:] = batch["target"][2, -4:] = PAD
    return {**batch, "ntokens": int(batch["target"].ne(PAD).sum())}


def gradients(model: PlacedTransformer, loss: Tensor) -> list[Tensor]:
    """The gradient of each weight."""
    model.zero_grad()
    loss.backward()
    return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]


# --- padded


def time_major(model: PlacedTransformer, batch: dict[str, Any]) -> Tensor:
    """The features of a batch's target, of shape (batch, length, width), computed in fairseq's order: what is between
    two layers is of shape (length, batch, width), and so is what a stack's last norm takes."""

    def attended(module: Any, keys: Tensor | None, seen: Tensor | None, causal: bool) -> Callable[..., Tensor]:
        def sublayer(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            projected = project(module, h, "qkv" if keys is None else "q")
            of_source = None if keys is None else project(module, keys.transpose(0, 1), "kv")
            heads = attend(projected, of_source, Padded(seen), module.num_heads, causal, 0.0)
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
