"""The residual connections against the formulas of the paper's Table 1, written out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from preln.residual import PLACEMENTS, PostLN, PreLN

pytestmark = pytest.mark.numbers

WIDTH = 8


def layer_norm(v: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """LayerNorm as section 3.1 defines it, up to the epsilon that keeps it finite."""
    mean = v.mean(dim=-1, keepdim=True)
    variance = ((v - mean) ** 2).mean(dim=-1, keepdim=True)
    return scale * (v - mean) / (variance + 1e-5).sqrt() + shift


@pytest.fixture
def x() -> Tensor:
    return torch.randn(3, 2, WIDTH, generator=torch.Generator().manual_seed(1))


def randomised(residual: PostLN | PreLN) -> PostLN | PreLN:
    torch.nn.init.normal_(residual.norm.weight)
    torch.nn.init.normal_(residual.norm.bias)
    return residual


def test_post_ln_normalises_the_sum(x: Tensor) -> None:
    residual = randomised(PostLN(WIDTH))
    expected = layer_norm(x + torch.tanh(x), residual.norm.weight, residual.norm.bias)
    torch.testing.assert_close(residual(x, torch.tanh), expected)


def test_pre_ln_normalises_the_sublayers_input_and_leaves_the_stream_alone(x: Tensor) -> None:
    residual = randomised(PreLN(WIDTH))
    expected = x + torch.tanh(layer_norm(x, residual.norm.weight, residual.norm.bias))
    torch.testing.assert_close(residual(x, torch.tanh), expected)


def test_pre_ln_is_the_identity_around_a_silent_sublayer_and_post_ln_is_not(x: Tensor) -> None:
    torch.testing.assert_close(PreLN(WIDTH)(x, torch.zeros_like), x)
    assert not torch.allclose(PostLN(WIDTH)(x, torch.zeros_like), x)


def test_only_pre_ln_has_a_final_norm() -> None:
    assert isinstance(PreLN.final_norm(WIDTH), torch.nn.LayerNorm)
    assert PostLN.final_norm(WIDTH) is None


def test_the_study_names_both_placements() -> None:
    assert PLACEMENTS == {"post": PostLN, "pre": PreLN}
