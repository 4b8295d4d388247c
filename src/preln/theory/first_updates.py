"""The first updates of a run, one by one, and their effect on the model's outputs.

The training is repeated in fp32, that of a translation model outside of fairseq's trainer, with the run's weights,
batches, dropout, optimizer and learning rates. The model's outputs are measured after each update on a fixed batch of
the validation text, without dropout.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import torch
from torch import Tensor, nn
from tqdm import tqdm

from preln import schedules
from preln.config import LanguageSettings, RunSettings
from preln.errors import PrelnError
from preln.records.files import replaced
from preln.theory.gradients import loss_and_square_norms
from preln.theory.observe import square_norms

if TYPE_CHECKING:
    from preln.fairseq_plugin.probe import Probe
    from preln.language.probe import Probe as LanguageProbe

FIXED_TOKENS = 1024
"""Tokens in the fixed batch, with padding."""
LANCZOS_STEPS = 8
"""Steps in a measurement of the sharpness, which starts from the eigenvector of the previous one; the first measurement
takes twice as many."""
STEP = 1e-3
"""e times the norm of v, as a share of the norm of the weights (`sharpness`)."""

_LAYER = re.compile(r"((?P<stack>encoder|decoder)\.)?layers\.(?P<index>\d+)\.")


def trace(
    probe: Probe | LanguageProbe, settings: RunSettings | LanguageSettings, updates: int, sharpness_every: int
) -> pd.DataFrame:
    """Make a run's first updates, and measure the model before the first and after each. A loss that is not finite ends
    the trace early. The sharpness is measured every `sharpness_every` updates.

    Returns:
        A row for each number of updates, 0, 1, ..., `updates`, with the columns

        - `update`, `learning_rate`: the number of updates, and the rate of the last one;
        - `loss`: on the fixed batch, in bits a token, with the run's label smoothing;
        - `function_change`: the root of the mean of ||h' - h||^2 / d over the fixed batch's words, where h and h' are
          the decoder's last hidden states before and after the update; a language model is a decoder;
        - `function_distance`: the same with h from the model at initialisation, which Wang et al. (2022, section 3)
          call the model update;
        - `cosine`: the mean cosine between the last hidden states of two words;
        - `input_norm.STACK.LAYER`: the root of the mean of ||x||^2 / d, where x is the input of the LayerNorm after the
          layer;
        - `gradient_norm.STACK.LAYER`, `update_norm.STACK.LAYER`: the norms of the mini-batch's gradient and of the
          update, over all weights of the layer; `rest` stands for the weights outside of layers;
        - `sharpness`: the largest eigenvalue of the Hessian of the fixed batch's loss in nats a token, where measured.

    Raises:
        PrelnError: if the first epoch has fewer updates.
    """
    model = probe.model
    schedule = schedules.of(settings)
    fixed = probe.held_out(FIXED_TOKENS)
    batches = probe.batches(updates * settings.accumulate)
    direction: list[Tensor] | None = None
    first: Tensor | None = None
    before: Tensor | None = None
    rows: list[dict[str, float]] = []
    for update in tqdm(range(updates + 1), desc="updates", unit="update", mininterval=5):
        row: dict[str, float] = {"update": update}
        if update:
            update_batches = list(islice(batches, settings.accumulate))
            if len(update_batches) < settings.accumulate:
                raise PrelnError(f"updates: the run's first epoch has {update - 1}; {updates} cannot be traced")
            row["learning_rate"] = schedule.rate(update)
            probe.differentiate(update_batches, update)
            row |= norms_by_layer("gradient_norm", {name: p.grad for name, p in model.named_parameters()})
            weights = {name: p.detach().clone() for name, p in model.named_parameters()}
            probe.step(row["learning_rate"])
            changes = {name: p.detach() - weights[name] for name, p in model.named_parameters()}
            row |= norms_by_layer("update_norm", changes)
        model.eval()
        with torch.no_grad():
            loss, sums = loss_and_square_norms(probe, fixed)
            states = probe.last_states(fixed)
        row |= {"loss": float(loss) / math.log(2), "cosine": mean_cosine(states)}
        if first is None or before is None:
            first = states
        else:
            row["function_change"] = _distance(states, before)
            row["function_distance"] = _distance(states, first)
        before = states
        for stack, layers in sums.items():
            row |= {f"input_norm.{stack}.{i}": float(values.mean().sqrt()) for i, values in enumerate(layers, start=1)}
        if update % sharpness_every == 0:
            row["sharpness"], direction = sharpness(lambda: probe.loss(fixed), list(model.parameters()), direction)
        model.train()
        rows.append(row)
        if not math.isfinite(row["loss"]):
            break
    return pd.DataFrame(rows)


def write(rows: pd.DataFrame, path: Path) -> None:
    """Write a trace as CSV with five significant digits."""
    with replaced(path) as partial:
        rows.to_csv(partial, index=False, float_format="%.5g", lineterminator="\n")


def _distance(states: Tensor, reference: Tensor) -> float:
    """The root of the mean of ||h' - h||^2 / d over the words of two tensors of shape (words, d)."""
    return float(square_norms(states - reference).mean().sqrt())


def norms_by_layer(quantity: str, tensors: Mapping[str, Tensor | None]) -> dict[str, float]:
    """Frobenius norms by layer of `tensors`, which are named as a model's parameters.

    Returns:
        A value for each layer, named `QUANTITY.STACK.LAYER`, and `QUANTITY.rest` for tensors outside of layers.
    """
    squares: dict[str, float] = {}
    for name, tensor in tensors.items():
        match = _LAYER.match(name)
        place = f"{match['stack'] or 'decoder'}.{int(match['index']) + 1}" if match else "rest"
        square = 0.0 if tensor is None else float(tensor.square().sum())
        squares[f"{quantity}.{place}"] = squares.get(f"{quantity}.{place}", 0.0) + square
    return {key: math.sqrt(square) for key, square in squares.items()}


def mean_cosine(states: Tensor) -> float:
    """The mean cosine between two different rows of `states`, of shape (words, d)."""
    directions = nn.functional.normalize(states, dim=-1)
    count = len(directions)
    return float((directions.sum(0).square().sum() - directions.square().sum()) / (count * (count - 1)))


def sharpness(
    loss: Callable[[], Tensor], weights: Sequence[Tensor], start: Sequence[Tensor] | None
) -> tuple[float, list[Tensor]]:
    """The largest eigenvalue of the Hessian, by Lanczos.

    H v is (g(w + e v) - g(w - e v)) / 2e, as the compiled loops have no second derivatives. Power iteration would find
    the eigenvalue of largest magnitude, which is negative in some models at initialisation.

    `loss` is computed at the weights, which are left unchanged. `start` is the first vector, in their shapes, and
    random if None.

    Returns:
        The eigenvalue and its eigenvector, of norm 1; NaN if a gradient is not finite.
    """
    generator = torch.Generator().manual_seed(1)
    first = [torch.randn(w.shape, generator=generator).to(w) for w in weights] if start is None else list(start)
    length = STEP * float(_norm(list(weights)))
    basis = [_scaled(first, 1 / float(_norm(first)))]
    matrix = torch.zeros(0, 0, dtype=torch.float64)
    for _ in range(LANCZOS_STEPS if start is not None else 2 * LANCZOS_STEPS):
        above, below = (_gradient_at(loss, weights, basis[-1], sign * length) for sign in (1.0, -1.0))
        product = [(a - b) / (2 * length) for a, b in zip(above, below, strict=True)]
        column = torch.tensor([_inner(vector, product) for vector in basis], dtype=torch.float64)
        if not bool(column.isfinite().all()):
            return math.nan, basis[0]
        # The projection of H on the basis; H is symmetric.
        grown = torch.zeros(len(basis), len(basis), dtype=torch.float64)
        grown[:-1, :-1], grown[:, -1], grown[-1, :] = matrix, column, column
        matrix = grown
        # Twice: after the first time, rounding leaves a part of the basis in it.
        for _ in range(2):
            for vector in basis:
                share = _inner(vector, product)
                product = [p - share * v for p, v in zip(product, vector, strict=True)]
        residue = float(_norm(product))
        if residue <= 1e-6 * float(matrix.abs().max()):
            break
        basis.append(_scaled(product, 1 / residue))
    values, vectors = torch.linalg.eigh(matrix)
    eigenvector = [torch.zeros_like(w) for w in weights]
    for share, vector in zip(vectors[:, -1].tolist(), basis, strict=False):
        eigenvector = [e + share * v for e, v in zip(eigenvector, vector, strict=True)]
    return float(values[-1]), _scaled(eigenvector, 1 / float(_norm(eigenvector)))


def _inner(u: Sequence[Tensor], v: Sequence[Tensor]) -> float:
    return float(sum((a * b).sum() for a, b in zip(u, v, strict=True)))


def _scaled(vector: Sequence[Tensor], factor: float) -> list[Tensor]:
    return [factor * v for v in vector]


def _gradient_at(
    loss: Callable[[], Tensor], weights: Sequence[Tensor], vector: Sequence[Tensor], length: float
) -> list[Tensor]:
    """The gradient at the weights plus `length` times the vector."""
    before = [w.detach().clone() for w in weights]
    with torch.no_grad():
        for weight, v in zip(weights, vector, strict=True):
            weight += length * v
    gradients = torch.autograd.grad(loss(), weights, allow_unused=True)
    with torch.no_grad():
        for weight, original in zip(weights, before, strict=True):
            weight.copy_(original)
    return [torch.zeros_like(w) if g is None else g for w, g in zip(weights, gradients, strict=True)]


def _norm(tensors: Sequence[Tensor]) -> Tensor:
    return torch.stack([tensor.detach().square().sum() for tensor in tensors]).sum().sqrt()
