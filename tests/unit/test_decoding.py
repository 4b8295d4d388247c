"""Our beam search against fairseq's, on fairseq's own Transformer with the same weights."""

from unittest import mock

import pytest
import torch
from fairseq.models.transformer import TransformerModelBase
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.decoding import LENGTH_FACTOR, LENGTH_MARGIN
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.fused import native
from tests.models import build, dictionary, fairseq_names, fairseqs, hypotheses, sentences, together
from tests.tensors import only

pytestmark = pytest.mark.numbers


def models(
    placement: str, seed: int, confidence: float, heads: int = 2
) -> tuple[PlacedTransformer, TransformerModelBase]:
    """Ours and fairseq's, which do not say everything with the same probability."""
    placed, stock = build(PlacedTransformer, placement, heads), build(TransformerModelBase, placement, heads)
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in placed.named_parameters():
            if "norm" not in name:
                parameter.normal_(0.0, confidence if "embed" in name else 0.3)
            elif "bias" in name:
                parameter *= 0.1
        # The end of a sentence is sometimes likely, and sometimes out of the question.
        placed.decoder.embed_tokens.weight[dictionary().eos()] *= 1.5
    stock.load_state_dict(fairseq_names(placed.state_dict()), strict=True)
    return placed.eval(), stock.eval()


@pytest.mark.slow
@pytest.mark.parametrize("placement", ["post", "pre"])
@pytest.mark.parametrize(
    ("beam", "penalty", "confidence", "heads"), [(1, 1.0, 0.5, 2), (5, 1.0, 0.3, 1), (4, 0.6, 1.0, 2), (3, 2.0, 0.4, 4)]
)
def test_translations_are_fairseqs(placement: str, beam: int, penalty: float, confidence: float, heads: int) -> None:
    placed, stock = models(placement, 1, confidence, heads)
    sources = sentences(1)
    expected = [fairseqs(stock, source, beam, penalty) for source in sources]
    assert together(placed, sources, beam, penalty) == expected


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    beam=st.integers(1, 5),
    penalty=st.sampled_from([0.0, 0.6, 1.0]),
    level=st.sampled_from(["none", native.LEVEL]),
    share=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 3),
)
def test_a_sentences_hypotheses_do_not_depend_on_the_others_nor_on_when_rows_close_up(
    lengths: list[int], beam: int, penalty: float, level: str, share: float, seed: int
) -> None:
    placed, _ = models("pre", seed, 0.7, heads=1)
    sources = sentences(seed, lengths)
    alone = [hypotheses(placed, [source], beam, penalty)[0] for source in sources]
    with only(level), mock.patch.dict(decoding.DONE, cpu=share):
        for result, expected in zip(hypotheses(placed, sources, beam, penalty), alone, strict=True):
            assert [h.pieces for h in result] == [h.pieces for h in expected]
            assert [h.score for h in result] == pytest.approx([h.score for h in expected], rel=1e-4)


def test_some_translations_end_by_themselves_and_some_at_the_limit_of_their_source() -> None:
    """Else the other tests would say little."""
    at_limit = set()
    for seed in range(4):
        placed, _ = models("pre", seed, 1.0)
        sources = sentences(seed)
        for text, source in zip(together(placed, sources, 5, 1.0), sources, strict=True):
            at_limit.add(len(text) == int(LENGTH_FACTOR * len(source) + LENGTH_MARGIN))
    assert at_limit == {True, False}


def test_no_translation_is_longer_than_the_model_has_positions() -> None:
    placed, _ = models("pre", 1, 1.0)
    length = placed.decoder.max_positions()
    source = torch.cat([torch.randint(4, len(dictionary()), (length - 1,)), torch.tensor([dictionary().eos()])])
    with torch.no_grad():
        # It never ends by itself.
        placed.decoder.embed_tokens.weight[dictionary().eos()] *= -10.0
    (text,) = together(placed, [source], 1, 1.0)
    assert len(text) <= length - 1


def test_a_beam_may_be_wider_than_the_dictionary() -> None:
    placed, _ = models("post", 1, 0.4)
    widest = len(dictionary()) // 2 - 1
    source = sentences(1)[:3]
    assert together(placed, source, 10 * widest, 1.0) == together(placed, source, widest, 1.0)


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_model_that_broke_says_so(broken: float) -> None:
    placed, _ = models("pre", 1, 0.4)
    with torch.no_grad():
        placed.decoder.embed_tokens.weight[5:] *= broken
    for level in ("none", native.LEVEL):
        with only(level), pytest.raises(FloatingPointError, match="scores are not finite"):
            together(placed, sentences(1), 4, 1.0)
