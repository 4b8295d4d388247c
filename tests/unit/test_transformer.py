"""The trained models against fairseq's own Transformer and RoBERTa with the same weights."""

from argparse import Namespace
from typing import Any

import pytest
import torch
from fairseq.models.roberta import RobertaModel
from fairseq.models.transformer import TransformerModelBase
from torch import Tensor, nn

from preln.config import PretrainingSettings
from preln.fairseq_plugin.bert import PlacedBert
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.fused.embedding import Embedding
from preln.placements.base import Place
from tests import models
from tests.conftest import PRETRAINING
from tests.models import dictionary, fairseq_names

pytestmark = pytest.mark.numbers


def task() -> Namespace:
    words = dictionary()
    words.add_symbol("<mask>")
    return Namespace(source_dictionary=words)


def options(placement: str, **changes: Any) -> Namespace:
    run = PretrainingSettings.model_validate({**PRETRAINING, "placement": placement, **changes})
    return Namespace(
        run_settings=run.model_dump_json(),
        encoder_layers=3,
        encoder_embed_dim=32,
        encoder_ffn_embed_dim=48,
        encoder_attention_heads=4,
        dropout=0.0,
        attention_dropout=0.0,
        max_positions=16,
        # How fairseq's own model is told the placement and the norm of the embeddings.
        encoder_normalize_before=placement == "pre",
        layernorm_embedding=run.embedding_norm,
    )


def build(model: type[RobertaModel], placement: str, embedding_norm: bool = True) -> Any:
    """A model with random weights, LayerNorms and biases included."""
    torch.manual_seed(5)
    built = model.build_model(options(placement, embedding_norm=embedding_norm), task())
    torch.manual_seed(6)
    for parameter in built.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, std=0.5)
    return built


@pytest.fixture
def tokens() -> Tensor:
    """Two sentences of unlike length, padded on the right as masked-LM batches are."""
    return torch.tensor([[0, 7, 8, 9, 10, 2], [0, 11, 12, 2, 1, 1]])


@pytest.mark.parametrize("embedding_norm", [True, False])
@pytest.mark.parametrize("placement", ["post", "pre"])
def test_a_berts_predictions_and_gradients_equal_fairseqs(placement: str, embedding_norm: bool, tokens: Tensor) -> None:
    placed, stock = (build(model, placement, embedding_norm) for model in (PlacedBert, RobertaModel))
    stock.load_state_dict(fairseq_names(placed.state_dict()), strict=True)
    masked = torch.tensor([[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]]).bool()
    our_logits, their_logits = (model(tokens, masked_tokens=masked)[0] for model in (placed, stock))
    assert our_logits.shape == (3, len(task().source_dictionary))
    torch.testing.assert_close(our_logits, their_logits, rtol=1e-5, atol=1e-5)
    our_logits.logsumexp(-1).sum().backward()
    their_logits.logsumexp(-1).sum().backward()
    encoder, stock_encoder = (model.encoder.sentence_encoder for model in (placed, stock))
    torch.testing.assert_close(
        encoder.layers[0].fc1.weight.grad, stock_encoder.layers[0].fc1.weight.grad, rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(
        encoder.embed_tokens.weight.grad, stock_encoder.embed_tokens.weight.grad, rtol=1e-4, atol=1e-5
    )


def test_a_berts_table_of_tokens_is_of_our_own_kind_and_its_residual_connections_are_an_encoders_alone() -> None:
    encoder = build(PlacedBert, "pre").encoder.sentence_encoder
    assert isinstance(encoder.embed_tokens, Embedding)
    places = [layer.feed_forward_residual.place for layer in encoder.layers]
    depth = len(places)
    assert places == [Place("encoder", n, "feed-forward", depth, 0) for n in range(1, depth + 1)]


@pytest.fixture
def batch() -> dict[str, Tensor]:
    """Two sentences of unlike length: fairseq pads sources on the left, targets on the right."""
    return {
        "src_tokens": torch.tensor([[1, 1, 5, 6, 2], [7, 8, 9, 10, 2]]),
        "src_lengths": torch.tensor([3, 5]),
        "prev_output_tokens": torch.tensor([[2, 11, 12, 13], [2, 14, 1, 1]]),
    }


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("placement", ["post", "pre"])
def test_logits_and_gradients_equal_fairseqs(placement: str, training: bool, batch: dict[str, Tensor]) -> None:
    placed, stock = models.build(PlacedTransformer, placement), models.build(TransformerModelBase, placement)
    stock.load_state_dict(fairseq_names(placed.state_dict()), strict=True)
    placed.train(training)
    stock.train(training)
    real = batch["prev_output_tokens"].ne(1)
    our_logits, their_logits = placed(**batch)[0][real], stock(**batch)[0][real]
    torch.testing.assert_close(our_logits, their_logits, rtol=1e-5, atol=1e-5)
    our_logits.logsumexp(-1).sum().backward()
    their_logits.logsumexp(-1).sum().backward()
    torch.testing.assert_close(
        placed.encoder.layers[0].fc1.weight.grad, stock.encoder.layers[0].fc1.weight.grad, rtol=1e-4, atol=1e-5
    )


def test_both_stacks_look_tokens_up_in_one_table_of_our_own_kind() -> None:
    model = models.build(PlacedTransformer, "post")
    assert model.encoder.embed_tokens is model.decoder.embed_tokens
    assert isinstance(model.encoder.embed_tokens, Embedding)
