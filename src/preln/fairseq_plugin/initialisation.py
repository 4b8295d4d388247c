"""How the weights of a model are drawn, where a study wants them otherwise than fairseq draws them.

fairseq builds a model and draws its weights. What is here draws some of them anew, or scales them, before the training
begins; the training and the measurements of the theory both begin with the model that comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from preln.config import RunSettings
from preln.placements import PLACEMENTS
from preln.placements.base import Placement, Residual, profiling

BERT_WIDTH = 768
"""The width of BERT base, for which Devlin et al. (2019) chose their standard deviation of 0.02."""


PROFILED_SENTENCES, PROFILED_LENGTH = 32, 32
"""Of the batch that a model computes once before the training, where its placement asks for that."""


def initialise(model: Any, settings: RunSettings) -> None:
    """Draw a translation model's weights as a run asks for; fairseq has drawn them as `fairseq` and `packed`."""
    if settings.initialisation == "xavier":
        draw_feed_forward_by_xavier(model)
    if settings.projections == "separate":
        separate_projections(model)

    def compute(tokens: Tensor) -> None:
        # What the decoder is given begins with the end of the sentence before.
        model(tokens, torch.full([len(tokens)], tokens.size(1)), tokens.roll(1, dims=1))

    placement = PLACEMENTS[settings.placement]
    apply_placement(placement, [model.encoder, model.decoder], model.decoder.dictionary, compute)


@torch.no_grad()
def apply_placement(
    placement: Placement, stacks: Sequence[Any], dictionary: Any, compute: Callable[[Tensor], object]
) -> None:
    """Change drawn weights as the placement of a model asks for: by its scales, and by a first pass.

    Args:
        placement: the model's.
        stacks: its encoder, and its decoder if it has one.
        dictionary: of its words, with their counts in the training text.
        compute: passes tokens, of shape (sentences, length), through the model.
    """
    layers = [layer for stack in stacks for layer in stack.layers]
    scale_feed_forward(layers)
    scale_attention(layers)
    if placement.embedding_scale is not None:
        depths = [len(stack.layers) for stack in stacks]
        # The stacks may share their embeddings.
        for weight in {stack.embed_tokens.weight for stack in stacks}:
            weight.mul_(placement.embedding_scale(depths[0], sum(depths[1:])))
    if placement.profiled:
        with ExitStack() as until:
            for stack in stacks:
                until.enter_context(profiling([part for part in stack.modules() if isinstance(part, Residual)]))
                until.callback(stack.train, stack.training)
                stack.eval()
            length = min(PROFILED_LENGTH, *(stack.max_positions() for stack in stacks))
            compute(frequent_words(dictionary, PROFILED_SENTENCES, length))


def frequent_words(dictionary: Any, sentences: int, length: int) -> Tensor:
    """Sentences of words that are as frequent as in the training text, with their end, of shape (sentences, length).

    They are the same for every model of the dictionary, and drawing them leaves PyTorch's generator as it is.
    """
    counts = torch.tensor(dictionary.count, dtype=torch.double)
    counts[: dictionary.nspecial] = 0
    words = torch.multinomial(counts, sentences * length, replacement=True, generator=torch.Generator().manual_seed(1))
    words = words.view(sentences, length)
    words[:, -1] = dictionary.eos()
    return words


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
