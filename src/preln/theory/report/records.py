"""The measurements of a study's theory as one tidy frame, with the units of the figures and tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from preln.config import Study
from preln.libraries import pd
from preln.placements import PAPER, PLACEMENTS, resolve
from preln.report.core.entries import Source
from preln.report.core.records import done, having, origin_lines, table
from preln.report.core.statistics import exponent, mean
from preln.report.reference import gradients as paper
from preln.report.reference.gradients import Bar
from preln.theory.measurement_jobs import ExactJob, GradientJob, MeasurementJob, expand
from preln.theory.measurements import AFTER_WARMUP, COLUMNS, INITIAL
from preln.translation.runs import Run

UNBIASED = ("gradient_square", "gradient_square_error", "gradient_noise")
"""The quantities of a gradient without the bias of the mini-batches' noise; older measurements are without them."""
_MOST_PLACEMENTS = 6
STATES = {INITIAL: "at initialisation", AFTER_WARMUP: "after warm-up"}


@dataclass(frozen=True)
class Records:
    """The measurements of a study's theory, in the columns of their files and `part`, the part's id; how many of the
    parts that is, and the commits and hardware, in a sentence each; and the paper's bars of figure 3 for those of the
    models that are the paper's."""

    table: pd.DataFrame
    progress: str
    origin: tuple[str, ...]
    bars: tuple[Bar, ...]


def load(study: Study, parts: Sequence[MeasurementJob], results: Path) -> Records:
    """The records of the parts that are done. It raises what `done` raises."""
    tables, origins, bars = [], [], []
    for part, folder, record in done(study, parts, results):
        tables.append(read(folder / "measurements.csv").assign(part=part.id))
        origins.append(record)
        if isinstance(part, GradientJob) and isinstance(part.run, Run) and not part.variant:
            state = AFTER_WARMUP if part.trained else INITIAL
            is_papers = part.run.corpus.source == "iwslt14"
            bars += [bar for bar in paper.load() if is_papers and bar.state == state and bar.is_of(part.run.settings)]
    return Records(
        pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*COLUMNS, "part"]),
        f"Study {study.study}: {len(tables)} of {len(parts)} parts of the theory measured.",
        origin_lines(origins),
        tuple(bars),
    )


def read(path: Path) -> pd.DataFrame:
    """The measurements in a part's file; the errors are those of `table`."""
    # Only a layer may be missing; the other empty cells are empty text.
    measured = table(path, COLUMNS, dtype={"layer": "Int64"}, keep_default_na=False, na_values={"layer": ""})
    return measured.assign(placement=measured["placement"].map(resolve))


def seeds_of(measured: pd.DataFrame) -> str:
    """The number of seeds of each model of the measurements, for the note below a figure; empty where there is none."""
    counts = [
        f"{PLACEMENTS[str(placement)].label} {STATES[str(state)]}: n = {group['seed'].nunique()}"
        for (placement, state), group in measured.groupby(["placement", "state"])
    ]
    return f" Means over seeds with 95% intervals ({'; '.join(counts)})." if counts else ""


def profile(measured: pd.DataFrame) -> pd.DataFrame:
    """The measurements in every layer of the model of the proofs."""
    return measured[measured["part"].str.startswith("exact-layers")]


def sweep(measured: pd.DataFrame, over: str) -> pd.DataFrame:
    """The last layer's gradient of W^2 in the sweep over `depth` or `width`."""
    return having(measured[measured["part"].str.startswith(f"exact-{over}s")], quantity="gradient_norm")


def exponents(swept: pd.DataFrame, over: str) -> list[float]:
    """The exponent of each seed's gradient in the depth or the width, in the order of the seeds; a gradient of zero, as
    ReZero's is before the first update, has none."""
    return [
        exponent(seed[over].tolist(), seed["value"].tolist())
        for _, seed in swept.sort_values(over).groupby("seed")
        if seed["value"].gt(0).all()
    ]


def expected_gradients(measured: pd.DataFrame) -> pd.DataFrame:
    """Figure 3's quantity for the models as they are trained."""
    return measured[(measured["model"] != "exact") & (measured["quantity"] == "expected_gradient_norm")]


def layers_of(depth: object, measured: pd.DataFrame) -> str:
    """The layers of a model of a depth: `6-6` of encoder and decoder, or `6` of language models."""
    return str(depth) if measured["model"].eq("language").any() else f"{depth}-{depth}"


def last_gradients(norms: pd.DataFrame) -> pd.DataFrame:
    """Such gradients of the last decoder layer's W^2 in the models as they are trained."""
    return having(norms, stack="decoder", matrix="W2", variant="", layer=norms["depth"])


def unbiased_gradients(measured: pd.DataFrame) -> pd.DataFrame:
    """Figure 3's quantity without the bias of the mini-batches' noise, where a study has measured it: the root of the
    unbiased estimate of its square. It is not known where the noise hides it: where the square is not more than two
    standard errors above zero, or where two mini-batches, which tell no error, give none above zero."""
    squares, errors = (
        measured[(measured["model"] != "exact") & (measured["quantity"] == quantity)].drop(columns="quantity")
        for quantity in ("gradient_square", "gradient_square_error")
    )
    columns = [name for name in squares.columns if name != "value"]
    estimates = squares.merge(errors, "left", columns, suffixes=("", "_error"))
    seen = estimates["value"] > 2 * estimates["value_error"].fillna(0.0)
    return estimates.assign(value=estimates["value"].where(seen) ** 0.5).drop(columns="value_error")


@dataclass(frozen=True)
class WithoutBias:
    """A gradient's expected norm without the bias of the mini-batches' noise.

    Attributes:
        norm: the root of the mean over the seeds of the unbiased estimates of its square; zero where noise hides it.
        error: its standard error upwards: over the seeds, or of one seed over its mini-batches.
        noise: the root of the summed variances of one mini-batch's gradient, the mean over the seeds.
    """

    norm: float
    error: float
    noise: float


def without_bias(measured: pd.DataFrame) -> WithoutBias:
    """The gradient of one matrix of one model, from a row for each seed and quantity; no numbers where it is not
    measured."""
    by_quantity = {
        str(quantity): group.sort_values("seed")["value"].tolist() for quantity, group in measured.groupby("quantity")
    }
    squares = by_quantity.get("gradient_square", [])
    if not squares:
        return WithoutBias(math.nan, math.nan, math.nan)
    square, error = mean(squares), mean(by_quantity.get("gradient_square_error", []))
    if len(squares) > 1:
        variance = math.fsum((value - square) ** 2 for value in squares) / (len(squares) - 1)
        error = math.sqrt(variance / len(squares))
    norm = math.sqrt(max(square, 0.0))
    return WithoutBias(norm, math.sqrt(norm**2 + error) - norm, mean(by_quantity.get("gradient_noise", [])))


def growth(gradients: pd.DataFrame) -> list[float]:
    """For each seed, the factor by which the gradient grows from one layer to the next, towards the output; seeds of
    which noise hides the first or the last layer's have none. The gradients are the norms of one matrix in every layer
    of one model, for all seeds."""
    factors = []
    for _, seed in gradients.sort_values("layer").groupby("seed"):
        first, last = seed.iloc[0], seed.iloc[-1]
        if first["value"] > 0 and last["value"] > 0:
            factors.append(float((last["value"] / first["value"]) ** (1 / (last["layer"] - first["layer"]))))
    return factors


def with_gradients(study: Study, parts: Sequence[MeasurementJob]) -> Sequence[MeasurementJob]:
    """All parts of a theory that has gradients of trained models; none where the model of the proofs is alone."""
    return parts if study.theory and study.theory.gradients else []


def legible(study: Study, parts: Sequence[MeasurementJob]) -> Sequence[MeasurementJob]:
    """The parts of `with_gradients`; of more placements than a reader can tell apart, those of the paper's two."""
    shown = with_gradients(study, parts)
    return [part for part in shown if not is_crowded(_placements(shown)) or _placements([part]) <= {*PAPER}]


def is_crowded(placements: Collection[str]) -> bool:
    """True of more placements than a reader of a figure can tell apart."""
    return len(placements) > _MOST_PLACEMENTS


def _placements(parts: Sequence[MeasurementJob]) -> set[str]:
    return {
        name
        for part in parts
        for name in (part.placements if isinstance(part, ExactJob) else (part.settings.placement,))
    }


SOURCE = Source(expand, load)
