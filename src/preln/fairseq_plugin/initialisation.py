"""How the weights of a model are drawn, where a study wants them otherwise than fairseq draws them.

fairseq builds a model and draws its weights. What is here draws some of them anew, or scales them, before the training
begins; the training and the measurements of the theory both begin with the model that comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

BERT_WIDTH = 768
"""The width of BERT base, for which Devlin et al. (2019) chose their standard deviation of 0.02."""


def initialise(model: nn.Module, initialisation: str, projections: str) -> None:
    """Draw a translation model's weights as a run asks for; fairseq has drawn them as `fairseq` and `packed`."""
    if initialisation == "xavier":
        draw_feed_forward_by_xavier(model)
    if projections == "separate":
        separate_projections(model)
    scale_feed_forward(_layers(model))
    scale_attention(_layers(model))


@torch.no_grad()
def draw_feed_forward_by_xavier(model: nn.Module) -> None:
    """Draw W^1 and W^2 of every layer by Xavier uniform (variance 2/(inputs + outputs)), and set their biases to 0, as
    fairseq did up to version 0.9, of the time of the paper, and as the paper's theory has them (section 3.3).

    torch's default, which fairseq takes now, has the variance 1/(3 inputs): with inner layers twice as wide as the
    model, half as much for W^1 and a quarter for W^2.
    """
    for layer in _layers(model):
        for linear in (layer.fc1, layer.fc2):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)


@torch.no_grad()
def separate_projections(model: nn.Module) -> None:
    """Make W^Q, W^K and W^V of every attention what Xavier draws for each by itself: fairseq's gain of 1/sqrt(2), that
    of one packed matrix of shape (3d, d), becomes 1."""
    for layer in _layers(model):
        for name in ("self_attn", "encoder_attn"):
            if attention := getattr(layer, name, None):
                for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
                    projection.weight.mul_(2**0.5)


@torch.no_grad()
def scale_feed_forward(layers: Iterable[Any]) -> None:
    """Multiply W^1 and W^2 of each layer by the scale that the placement gives them."""
    for layer in layers:
        for linear in (layer.fc1, layer.fc2):
            linear.weight.mul_(layer.feed_forward_residual.initial_scale)


@torch.no_grad()
def scale_attention(layers: Iterable[Any]) -> None:
    """Multiply W^V and W^O of each attention of each layer by the scale that the placement gives them."""
    for layer in layers:
        for name, residual in (("self_attn", "attention_residual"), ("encoder_attn", "encoder_attention_residual")):
            if attention := getattr(layer, name, None):
                for projection in (attention.v_proj, attention.out_proj):
                    projection.weight.mul_(getattr(layer, residual).initial_scale)


@torch.no_grad()
def scale_to_width(model: nn.Module, width: int) -> None:
    """Scale all matrices and embeddings of a BERT of this width, which fairseq draws from N(0, 0.02^2), to N(0, s^2)
    with s = 0.02 sqrt(768/width).

    A matrix multiplies the variance of what it is given by its inputs times s^2. This product then is that of BERT base
    at every width, and so is the share that a branch adds to the residual stream.
    """
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.mul_((BERT_WIDTH / width) ** 0.5)


def redraw_feed_forward(model: nn.Module) -> None:
    """Draw W^1 and W^2 of a model that is initialised already by Xavier, with the placement's scale."""
    draw_feed_forward_by_xavier(model)
    scale_feed_forward(_layers(model))


def _layers(model: Any) -> Iterator[Any]:
    """The layers of a translation model, those of the encoder first."""
    for stack in (model.encoder, model.decoder):
        yield from stack.layers
