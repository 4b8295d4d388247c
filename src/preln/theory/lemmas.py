"""Lemmas 1 to 3, theorem 1, boundedness and appendix F, measured on the toy model of section 3.3.

All layers, matrices and quantities of a stack (placement, width, depth, seed) come from one forward and backward pass.
For sequences of n positions it costs about 15 n d^2 L multiplications and additions; lemma 3 adds the singular values
of a d x d Jacobian for each layer, which cost several times that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from scipy import linalg
from torch import Generator, Tensor, nn
from tqdm import tqdm

from preln.config import ExactTheory, Placement
from preln.fused.norm import LayerNorm
from preln.placements.base import Stack
from preln.theory.exact import ExactStack, sequence_loss
from preln.theory.measurements import INITIAL, UNIT_OUTPUT, Measurement
from preln.theory.observe import excess_share, inputs_of, square_norms, sums_of

VOCABULARY = 1000
"""Words in the softmax. Their vectors have entries of variance 1/d, as fairseq's embeddings, so that the gradient of
the loss with respect to a hidden state has a norm of about 1 at every width."""

_STACKS: tuple[Stack, ...] = ("encoder", "decoder")
_MATRICES = {"V": "value", "cross-V": "encoder_value", "W1": "w1", "W2": "w2"}


def input_sequence(length: int, width: int, generator: Generator) -> tuple[Tensor, Tensor]:
    """An input sequence: vectors of shape (n, d), independent and standard normal, and uniform labels of shape (n,)."""
    vectors = torch.randn(length, width, generator=generator)
    return vectors, torch.randint(VOCABULARY, (length,), generator=generator)


def by_layer(setting: ExactTheory, placements: Sequence[Placement], seeds: int) -> list[Measurement]:
    """Every quantity in every layer, for each placement's encoder and decoder."""
    rows: list[Measurement] = []
    with tqdm(total=len(_STACKS) * len(placements) * seeds, desc="by layer", mininterval=5) as bar:
        for stack, placement in itertools.product(_STACKS, placements):
            norms = []
            for seed in range(1, seeds + 1):
                result = Pass.draw(stack, placement, setting.width, setting.depth, setting.length, seed)
                norms.append(torch.stack([square_norms(x) for x in result.sums]))
                rows += [*result.hidden_states(), *result.gradients()]
                bar.update()
            rows += boundedness(result.base, norms)
    return rows


def boundedness(base: Measurement, norms: list[Tensor]) -> Iterator[Measurement]:
    """Each seed's and layer's `excess_share` over the mean over all seeds: the probability in definition 1 is over
    initialisation and input together. `norms` are, for the seeds 1, 2, ..., the squared norms by layer and position, of
    shape (L, n)."""
    means = torch.stack(norms).mean(dim=(0, 2))
    for seed, values in enumerate(norms, start=1):
        for layer, (layer_values, mean) in enumerate(zip(values, means, strict=True), start=1):
            share = excess_share(layer_values, float(mean))
            yield replace(base, seed=seed, layer=layer, quantity="excess_share", value=share)


def last_layers(setting: ExactTheory, placements: Sequence[Placement], seeds: int, sweep: str) -> list[Measurement]:
    """The last layer's gradients, as in theorem 1, for encoders of the setting's depths or widths."""
    shapes = {
        "depths": [(setting.width, depth) for depth in setting.depths],
        "widths": [(width, setting.depth) for width in setting.widths],
    }[sweep]
    cases = [(w, d, p, seed) for w, d in shapes for p in placements for seed in range(1, seeds + 1)]
    rows: list[Measurement] = []
    for width, depth, placement, seed in tqdm(cases, desc=sweep, mininterval=5):
        result = Pass.draw("encoder", placement, width, depth, setting.length, seed)
        rows += [row for row in result.gradients() if row.layer == depth and row.matrix == "W2"]
    return rows


@dataclass(frozen=True)
class Pass:
    """A model at initialisation with the results of a forward pass.

    Attributes:
        base: a measurement that describes the model, without a quantity.
        model: the model.
        sums: for each layer, the residual sums in lemma 2, of shape (n, d).
        preactivations: for each layer, x W^1, of shape (n, d).
        states: the model's output, of shape (n, d).
        labels: of shape (n,).
        directions: W^emb with entries of variance 1, of shape (vocabulary, d).
    """

    base: Measurement
    model: ExactStack
    sums: list[Tensor]
    preactivations: list[Tensor]
    states: Tensor
    labels: Tensor
    directions: Tensor

    @classmethod
    def draw(cls, stack: Stack, placement: Placement, width: int, depth: int, length: int, seed: int) -> Pass:
        """Initialise a model and a sequence by `seed`, and compute a forward pass.

        A decoder attends to the output of an encoder with the same placement, width and depth.
        """
        generator = torch.Generator().manual_seed(seed)
        encoder_output = None
        if stack == "decoder":
            encoder = ExactStack(width, depth, placement, "encoder", generator, attended=True)
            source, _ = input_sequence(length, width, generator)
            encoder.profile(source)
            with torch.no_grad():
                encoder_output = encoder(source)
        model = ExactStack(width, depth, placement, stack, generator)
        directions = torch.randn(VOCABULARY, width, generator=generator)
        vectors, labels = input_sequence(length, width, generator)
        model.profile(vectors, encoder_output)
        activations = [layer.get_submodule("activation") for layer in model.layers]
        with sums_of(model) as sums, inputs_of(activations) as preactivations:
            states = model(vectors, encoder_output)
        return cls(
            Measurement("exact", "", INITIAL, placement, stack, depth, width, None, "", seed, "", math.nan),
            model,
            [x for (x,) in sums],
            [x for (x,) in preactivations],
            states,
            labels,
            directions,
        )

    def hidden_states(self) -> Iterator[Measurement]:
        """Lemmas 1 to 3, in every layer."""
        # At initialisation, the norms at all places are equal.
        norm = LayerNorm(self.base.width)
        for layer, (x, preactivation) in enumerate(zip(self.sums, self.preactivations, strict=True), start=1):
            quantities = {
                "square_norm": float(square_norms(x).mean()),
                "relu_square_norm": float(square_norms(preactivation.relu()).mean()),
                "jacobian_norm": spectral_norm(norm, x[0]),
                "jacobian_closed_form": float(jacobian_norm(x[0])),
            }
            for quantity, value in quantities.items():
                yield replace(self.base, layer=layer, quantity=quantity, value=value)

    def gradients(self) -> Iterator[Measurement]:
        """Each matrix's gradient norm, for both output matrices."""
        weights = [
            (number, matrix, getattr(layer, attribute))
            for number, layer in enumerate(self.model.layers, start=1)
            for matrix, attribute in _MATRICES.items()
            if hasattr(layer, attribute)
        ]
        for variant, scale in (("", self.base.width**-0.5), (UNIT_OUTPUT, 1.0)):
            loss = sequence_loss(self.states, self.labels, self.directions * scale)
            gradients = torch.autograd.grad(loss, [weight for _, _, weight in weights], retain_graph=True)
            for (number, matrix, _), gradient in zip(weights, gradients, strict=True):
                row = replace(self.base, variant=variant, layer=number, matrix=matrix)
                yield replace(row, quantity="gradient_norm", value=float(gradient.norm()))


def jacobian_norm(x: Tensor) -> Tensor:
    """Lemma 3: the spectral norm of LayerNorm's Jacobian at each vector of `x`, of shape (..., d): sqrt(d)/||y||,
    where y is x minus its mean. (The paper writes ||x||; the mean of a hidden state is comparatively small.)"""
    y = x - x.mean(dim=-1, keepdim=True)
    norm: Tensor = math.sqrt(x.size(-1)) / y.norm(dim=-1)
    return norm


def spectral_norm(norm: nn.Module, x: Tensor) -> float:
    """The largest singular value of the Jacobian of `norm` at the vector `x`, computed from the Jacobian."""
    jacobian = torch.func.jacrev(norm)(x)
    # All but two singular values are equal, and LAPACK's faster driver does not always converge on these.
    return float(linalg.svd(jacobian.detach().double().numpy(), compute_uv=False, lapack_driver="gesvd")[0])
