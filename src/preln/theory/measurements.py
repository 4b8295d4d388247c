"""Measurements as rows of a tidy table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from preln.config import Placement
from preln.libraries import pd
from preln.placements import identified
from preln.placements.base import Stack
from preln.records.files import replaced

INITIAL, AFTER_WARMUP = "initial", "after-warm-up"
"""The states in which a model is measured."""

EPSILON, DELTA = 0.1, 0.125
"""The paper's boundedness (section 3.3): norms exceed their mean by more than a tenth in at most an eighth of the
cases. We apply it to squared norms, as in theorem 1."""

UNIT_OUTPUT = "unit-output"
"""The variant of the toy model of section 3.3 whose output matrix has entries of variance 1, not 1/d."""


@dataclass(frozen=True)
class Measurement:
    """A measured number.

    Attributes:
        model: `exact` (the toy model of section 3.3) or `translation` (as it is trained).
        variant: a change to that model; empty for none.
        state: `INITIAL` or `AFTER_WARMUP`.
        placement: its key in `PLACEMENTS`.
        stack: `encoder` or `decoder`; empty for shared parameters.
        depth: layers of the stack.
        width: d.
        layer: counted from 1 at the input; None outside of layers.
        matrix: the parameter of a gradient; empty otherwise.
        seed: seed of the initialisation.
        quantity: the measured quantity:
            `square_norm`: mean of ||x||^2/d over positions, for the residual sum after the layer (lemma 2);
            `relu_square_norm`: mean of ||ReLU(x W^1)||^2/d (lemma 1);
            `jacobian_norm`: largest singular value of LayerNorm's Jacobian at the sum of one position (lemma 3);
            `jacobian_closed_form`: the lemma's value for it;
            `excess_share`: share of the ||x||^2 that exceed their mean by more than a tenth (definition 1); the mean is
            over positions, and for the toy model over seeds too;
            `excess_quantile`: the relative excess over the mean that an eighth of the ||x||^2 exceed (definition 1);
            `gradient_norm`: Frobenius norm of the gradient of one sequence's loss;
            `expected_gradient_norm`: Frobenius norm of the mean of the mini-batches' gradients (figure 3);
            `mean_gradient_norm`: mean of the Frobenius norms of the mini-batches' gradients;
            `gradient_square`: the unbiased estimate of the squared norm of the gradient's expectation;
            `gradient_square_error`: its standard error;
            `gradient_noise`: the root of the summed variances of a mini-batch's gradient.
        value: the number; gradients are of a loss in nats a token.
    """

    model: str
    variant: str
    state: str
    placement: Placement
    stack: Stack | str
    depth: int
    width: int
    layer: int | None
    matrix: str
    seed: int
    quantity: str
    value: float


COLUMNS = [field.name for field in fields(Measurement)]


def write(rows: Iterable[Measurement], path: Path) -> None:
    """Write the measurements as CSV with seven digits, the precision of fp32."""
    table = pd.DataFrame([asdict(row) for row in rows], columns=COLUMNS).astype({"layer": "Int64"})
    table["placement"] = table["placement"].map(identified)
    with replaced(path) as partial:
        table.to_csv(partial, index=False, float_format="%.7g", lineterminator="\n")
