"""Initialisations that differ from fairseq's.

fairseq builds a model and initialises its weights. The functions here re-initialise or scale some of them before the
training; trainings and the measurements of the theory begin with the same model.
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
"""Shape of the batch for a profiling pass before the training, which some placements need."""


def initialise(model: Any, settings: RunSettings) -> None:
    """Initialise a translation model as the run asks; fairseq has done so as `fairseq` and `packed`."""
    if settings.initialisation == "xavier":
        xavier_feed_forward(model)
    if settings.projections == "separate":
        separate_projections(model)

    def compute(tokens: Tensor) -> None:
        # The decoder's input begins with the end of the previous sentence.
        model(tokens, torch.full([len(tokens)], tokens.size(1)), tokens.roll(1, dims=1))

    placement = PLACEMENTS[settings.placement]
    apply_placement(placement, [model.encoder, model.decoder], model.decoder.dictionary, compute)


@torch.no_grad()
def apply_placement(
    placement: Placement, stacks: Sequence[Any], dictionary: Any, compute: Callable[[Tensor], object]
) -> None:
    """Apply a placement's initial scales to the model's stacks, the encoder first, and its profiling pass if it has
    one: `compute` passes tokens, of shape (sentences, length), through the model, and the dictionary has word counts
    from the training text."""
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
    """Random sentences with the training text's word frequencies and an end, of shape (sentences, length).

    They depend only on the dictionary, and leave PyTorch's global generator unchanged.
    """
    counts = torch.tensor(dictionary.count, dtype=torch.double)
    counts[: dictionary.nspecial] = 0
    words = torch.multinomial(counts, sentences * length, replacement=True, generator=torch.Generator().manual_seed(1))
    words = words.view(sentences, length)
    words[:, -1] = dictionary.eos()
    return words


@torch.no_grad()
def xavier_feed_forward(model: nn.Module) -> None:
    """Initialise W^1 and W^2 of every layer by Xavier uniform (variance 2/(inputs + outputs)) with zero biases, as
    fairseq did up to version 0.9, at the time of the paper, and as the paper's theory assumes (section 3.3).

    torch's default, which fairseq uses now, has the variance 1/(3 inputs): with inner layers twice as wide as the
    model, half as much for W^1 and a quarter for W^2.
    """
    for layer in _layers(model):
        for linear in (layer.fc1, layer.fc2):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)


@torch.no_grad()
def separate_projections(model: nn.Module) -> None:
    """Scale every attention's W^Q, W^K and W^V to Xavier's variance for separate matrices: fairseq's gain of 1/sqrt(2),
    for one packed matrix of shape (3d, d), becomes 1."""
    for layer in _layers(model):
        for name in ("self_attn", "encoder_attn"):
            if attention := getattr(layer, name, None):
                for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
                    projection.weight.mul_(2**0.5)


@torch.no_grad()
def scale_feed_forward(layers: Iterable[Any]) -> None:
    """Multiply W^1 and W^2 of each layer by the placement's scale."""
    for layer in layers:
        for linear in (layer.fc1, layer.fc2):
            linear.weight.mul_(layer.feed_forward_residual.initial_scale)


@torch.no_grad()
def scale_attention(layers: Iterable[Any]) -> None:
    """Multiply W^V and W^O of each layer's attentions by the placement's scale."""
    for layer in layers:
        for name, residual in (("self_attn", "attention_residual"), ("encoder_attn", "encoder_attention_residual")):
            if attention := getattr(layer, name, None):
                for projection in (attention.v_proj, attention.out_proj):
                    projection.weight.mul_(getattr(layer, residual).initial_scale)


@torch.no_grad()
def scale_to_width(model: nn.Module, width: int) -> None:
    """Scale all matrices and embeddings of a BERT, which fairseq initialises from N(0, 0.02^2), to N(0, s^2) with
    s = 0.02 sqrt(768/width).

    A matrix multiplies the variance of its input by the number of inputs times s^2. At every width this product then
    equals BERT base's, and so does the share that a branch adds to the residual stream.
    """
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.mul_((BERT_WIDTH / width) ** 0.5)


def reinitialise_feed_forward(model: nn.Module) -> None:
    """Re-initialise W^1 and W^2 of a model by Xavier, with the placement's scale."""
    xavier_feed_forward(model)
    scale_feed_forward(_layers(model))


def _layers(model: Any) -> Iterator[Any]:
    for stack in (model.encoder, model.decoder):
        yield from stack.layers
