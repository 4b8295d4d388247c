"""The trained model against fairseq's own Transformer with the same weights."""

import pytest
import torch
from fairseq.models.transformer import TransformerModelBase
from torch import Tensor

from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.fused.embedding import Embedding
from tests.models import build, fairseq_names

pytestmark = pytest.mark.numbers


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
    placed, stock = build(PlacedTransformer, placement), build(TransformerModelBase, placement)
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
    model = build(PlacedTransformer, "post")
    assert model.encoder.embed_tokens is model.decoder.embed_tokens
    assert isinstance(model.encoder.embed_tokens, Embedding)
