"""The theory as tables: what is predicted beside what was measured, and figure 3 in numbers with the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from preln.config import Study
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.placements.base import Stack
from preln.report.core.forms import Content
from preln.report.core.statistics import estimate, exponent, mean, plus_minus
from preln.report.core.table import Table
from preln.report.reference.gradients import AROUND, BY_DEPTH
from preln.theory.closed_forms import DELTA, EPSILON
from preln.theory.measurement_jobs import INITIALISATIONS
from preln.theory.measurements import AFTER_WARMUP, INITIAL, UNIT_OUTPUT
from preln.theory.report.records import (
    SOURCE,
    UNBIASED,
    Records,
    expected_gradients,
    exponents,
    growth,
    last_gradients,
    profile,
    sweep,
    unbiased_gradients,
    with_gradients,
    without_bias,
)


@dataclass(frozen=True)
class Row:
    """One statement of the theory.

    Attributes:
        id: of the quantity, such as `depth-exponent`.
        placement: of the model.
        stack: encoder or decoder.
        of: `exact`, the model of the proofs, or `translation`.
        statement: lemma, theorem or definition.
        quantity: what was measured, in words.
        model: placement and stack, in words.
        measured: mean over the seeds; the interval is 95%.
        predicted_low, predicted_high: the paper's or its lemma's value as a range; NaN where there is none.
        predicted: the same in words.
        values: of each seed.
    """

    id: str
    placement: str
    stack: str
    of: str
    statement: str
    quantity: str
    model: str
    measured: float
    low: float
    high: float
    seeds: int
    predicted_low: float
    predicted_high: float
    predicted: str
    values: tuple[float, ...]


_COMPUTED = (
    *("measured", "low", "high", "predicted_low", "predicted_high", "ratio"),
    *("unbiased", "unbiased_error", "noise"),
)

_MODELS = {"exact": "proofs", "translation": "translation"}


def theory(records: Records) -> pd.DataFrame:
    """The statements of the theory, in full precision, in the columns of `Row`."""
    measured = records.table
    layers = profile(measured)
    rows: list[Row] = []
    for (placement, stack), group in layers.groupby(["placement", "stack"], sort=False):
        rows += _lemmas(group, str(placement), "encoder" if stack == "encoder" else "decoder")
    for name, over, variant, what in (
        ("depth-exponent", "depth", "", "exponent of the depth L"),
        ("width-exponent", "width", "", "exponent of the width d, W^emb of variance 1/d"),
        ("width-exponent-unit", "width", UNIT_OUTPUT, "exponent of the width d, W^emb of variance 1"),
    ):
        swept = sweep(measured, over)
        for placement, mine in swept[swept["variant"] == variant].groupby("placement"):
            predicted = _of_the_depth(str(placement))
            # Theorem 1 bounds the gradients of the placements that it gives an exponent of the depth.
            if over == "width" and predicted != _NOTHING:
                widths = sorted(set(mine["width"]))
                bound = exponent(widths, [d * math.sqrt(math.log(d)) for d in widths])
                predicted = -math.inf, bound, f"at most {bound:.2f}"
            at = str(placement), "encoder", "exact"
            rows.append(_row(name, "Theorem 1", what, at, exponents(mine, over), predicted))
    initial = measured[measured["state"] == INITIAL]
    hidden = initial[initial["variant"] == ""]
    # Boundedness is a matter of how the weights are drawn, which the paper does not say.
    drawn = initial[initial["variant"].map(_is_of_the_weights).astype(bool)]
    for name, quantity, what, most in (
        (
            "excess-share",
            "excess_share",
            f"share of squared norms above {1 + EPSILON:g} of their mean, last layer",
            DELTA,
        ),
        (
            "excess-quantile",
            "excess_quantile",
            f"excess over their mean that all but {DELTA} of the squared norms stay within, last layer",
            EPSILON,
        ),
    ):
        mine = drawn[(drawn["quantity"] == quantity) & (drawn["layer"] == drawn["depth"])]
        for (model, drawn_so, placement, stack), group in mine.groupby(["model", "variant", "placement", "stack"]):
            at = str(placement), str(stack), str(model)
            predicted = -math.inf, most, f"{most} (the paper's measurement)"
            values = group["value"].tolist()
            rows.append(_row(name, "Definition 1", what, at, values, predicted, f", {drawn_so}" if drawn_so else ""))
    gradients = pd.concat([
        layers[(layers["quantity"] == "gradient_norm") & (layers["variant"] == "")],
        expected_gradients(hidden),
    ])  # fmt: skip
    gradients = gradients[(gradients["matrix"] == "W2") & (gradients["stack"] != "")]
    # Where a study has several depths, the shallowest has every stack.
    shallowest = gradients.groupby("model")["depth"].transform("min")
    for (model, placement, stack), group in gradients[gradients["depth"] == shallowest].groupby(
        ["model", "placement", "stack"]
    ):
        if group["depth"].iloc[0] > 1:
            at = str(placement), str(stack), str(model)
            # The appendix's factor is one of E||x||^2 / d, which lemma 2 gives for the model of the proofs alone.
            sums = hidden[(hidden["quantity"] == "square_norm") & (hidden["depth"] == group["depth"].iloc[0])]
            sums = sums[(sums["model"] == model) & (sums["placement"] == placement) & (sums["stack"] == stack)]
            about = _growth(str(placement), str(model), mean(sums["value"]))
            what = "growth of the gradient of W^2 a layer, towards the output"
            rows.append(_row("growth", "Appendix F", what, at, growth(group), about))
            alone = unbiased_gradients(hidden)
            alone = alone[(alone["matrix"] == "W2") & (alone["stack"] == stack) & (alone["placement"] == placement)]
            alone = alone[alone["depth"] == group["depth"].iloc[0]]
            if model == "translation" and len(alone):
                rows.append(_row("growth-unbiased", "Appendix F", f"{what}, unbiased", at, growth(alone), about))
    rows += _of_figure_3(records)
    return pd.DataFrame([asdict(row) for row in rows], columns=[*Row.__dataclass_fields__])


def _is_of_the_weights(variant: str) -> bool:
    """Whether a variant departs from the models as they are trained in how the weights are drawn, if in anything."""
    return set(filter(None, variant.split("+"))) <= INITIALISATIONS.keys()


def _lemmas(layers: pd.DataFrame, placement: str, stack: Stack) -> list[Row]:
    """Lemmas 1 to 3 on one stack of the model of the proofs."""
    predictions = PLACEMENTS[placement].predictions
    at = placement, stack, "exact"

    def means(quantity: str, of: pd.DataFrame = layers) -> list[float]:
        return list(of[of["quantity"] == quantity].groupby("seed")["value"].agg(mean))

    rows = [
        _row(
            "relu-square-norm",
            "Lemma 1",
            "E‖ReLU(x W^1)‖^2 / d, all layers",
            at,
            means("relu_square_norm"),
            _NOTHING if predictions.relu_square_norm is None else _exactly(predictions.relu_square_norm),
        )
    ]
    numbers = sorted({int(layer) for layer in layers["layer"]})
    ranges = [predictions.square_norm(layer, stack) if predictions.square_norm else None for layer in numbers]
    everywhere = ranges[0] if len(set(ranges)) == 1 else None
    if everywhere and everywhere[0] == everywhere[1]:
        values, predicted = means("square_norm"), _exactly(everywhere[0])
        rows.append(_row("square-norm", "Lemma 2", "E‖x‖^2 / d, all layers", at, values, predicted))
    else:
        for layer in sorted({numbers[0], numbers[-1]}):
            predicted = _between(ranges[numbers.index(layer)])
            values = means("square_norm", layers[layers["layer"] == layer])
            rows.append(_row("square-norm", "Lemma 2", f"E‖x‖^2 / d, layer {layer}", at, values, predicted))
    keys = ["seed", "layer"]
    jacobian = layers[layers["quantity"] == "jacobian_norm"].set_index(keys)["value"]
    closed = layers[layers["quantity"] == "jacobian_closed_form"].set_index(keys)["value"]
    ratio = (jacobian / closed).groupby("seed").agg(mean)
    what = "‖J‖ over sqrt(d)/‖y‖, all layers"
    rows.append(_row("jacobian-norm", "Lemma 3", what, at, ratio.tolist(), _exactly(1)))
    return rows


def _of_figure_3(records: Records) -> list[Row]:
    """What figure 3 shows of the last decoder layer's W^2, in numbers: its gradient after the warm-up over that at
    initialisation, how it changes with the depth, and its ratio to the paper's, where the model is the paper's."""
    rows = []
    norms, unbiased = (last_gradients(of(records.table)) for of in (expected_gradients, unbiased_gradients))
    for placement in PLACEMENTS:
        at = placement, "decoder", "translation"
        mine = norms[norms["placement"] == placement]
        initial, later = (mine[mine["state"] == state] for state in (INITIAL, AFTER_WARMUP))
        if len(later):
            what = "last gradient of W^2, after warm-up over initial"
            rows.append(_row("collapse", "Figure 3", f"{what}, biased", at, _collapse(mine), _NOTHING))
            alone = unbiased[unbiased["placement"] == placement]
            if {INITIAL, AFTER_WARMUP} <= set(alone["state"]):
                values = _collapse(alone)
                rows.append(_row("collapse-unbiased", "Figure 3", f"{what}, unbiased", at, values, _NOTHING))
        if initial["depth"].nunique() > 1:
            what = "last gradient of W^2, exponent of the depth"
            values = exponents(initial, "depth")
            rows.append(_row("last-depth-exponent", "Figure 3", what, at, values, _of_the_depth(placement)))
            means = initial.groupby("seed")["value"].agg(mean).tolist()
            what = "last gradient of W^2, mean over the depths"
            value = AROUND.get(placement)
            around = (value, value, f"around {value:g}") if value else _NOTHING
            rows.append(_row("last-depth-mean", "Figure 3", what, at, means, around))
    table = figure_3(records)
    last = (table["variant"] == "") & (table["matrix"] == "W2") & (table["layer"] == table["depth"])
    for row in table[last & table["paper"].notna()].to_dict("records"):
        paper = row["paper"]
        ratios = [value / paper for value in row["values"]]
        what = f"last gradient of W^2 over the paper's {paper:g}"
        error = max((bar.error or 0.0 for bar in records.bars if bar.value == paper), default=0.0) / paper
        near = 1 - error, 1 + error, f"1 ± {error:.2g}" if error else "1"
        at = row["placement"], "decoder", "translation"
        model = f"{row['model']}, {_MODELS['translation']}"
        rows.append(replace(_row("over-the-papers", "Figure 3", what, at, ratios, near), model=model))
    return rows


def _collapse(norms: pd.DataFrame) -> list[float]:
    """A model's gradient after the warm-up over that of the same seed at initialisation. A seed whose gradient there is
    not above zero is left out, and one that was not measured there is divided by the mean of those that were."""
    later = norms[norms["state"] == AFTER_WARMUP]
    initial = norms[(norms["state"] == INITIAL) & (norms["depth"] == later["depth"].iloc[0])]
    before = dict(zip(initial["seed"], initial["value"], strict=True))
    usual = mean([value for value in before.values() if value > 0])
    pairs = [(value, before.get(seed, usual)) for seed, value in later[["seed", "value"]].to_numpy()]
    return [value / at_first for value, at_first in pairs if at_first > 0]


Predicted = tuple[float, float, str]
"""A prediction as a range and in words."""

_NOTHING: Predicted = (math.nan, math.nan, "")


def _of_the_depth(placement: str) -> Predicted:
    """The exponent of the depth that theorem 1 gives the last layer's gradient."""
    exponent_of_depth = PLACEMENTS[placement].predictions.depth_exponent
    if exponent_of_depth is None:
        return _NOTHING
    return float(exponent_of_depth), float(exponent_of_depth), str(exponent_of_depth)


def _growth(placement: str, model: str, square_norm: float) -> Predicted:
    """The factor that appendix F gives the gradient a layer; `square_norm` is the measured E||x||^2 / d."""
    predictions = PLACEMENTS[placement].predictions
    if predictions.growth is None:
        return _NOTHING
    if model == "exact" and predictions.square_norm:
        low, high = predictions.square_norm(1, "encoder")
        square_norm = low if low == high else square_norm
    factor = predictions.growth(square_norm)
    return factor, factor, "about 1" if factor == 1 else f"{factor:.3f}"


def _exactly(value: float) -> Predicted:
    """A prediction that is no range."""
    return value, value, f"{value:g}"


def _between(bounds: tuple[float, float] | None) -> Predicted:
    """A prediction that is a range."""
    return _NOTHING if bounds is None else (*bounds, f"{bounds[0]:g} to {bounds[1]:g}")


def _row(
    name: str,
    statement: str,
    quantity: str,
    at: tuple[str, str, str],
    values: Sequence[float],
    predicted: Predicted,
    variant: str = "",
) -> Row:
    """A row, whose `at` is the placement, the stack and the kind of model."""
    placement, stack, of = at
    model = f"{PLACEMENTS[placement].label} {stack}, {_MODELS[of]}{variant}"
    found = estimate(values)
    return Row(
        *(name, placement, stack, of, statement, quantity, model),
        measured=found.mean,
        low=found.low,
        high=found.high,
        seeds=found.n,
        predicted_low=predicted[0],
        predicted_high=predicted[1],
        predicted=predicted[2],
        values=tuple(values),
    )


def figure_3(records: Records) -> pd.DataFrame:
    """Figure 3 in numbers: a row for each model, matrix and layer.

    The columns are `figure` (such as `3(a)` or `3(b, c)`; empty for what the paper has not), `model`, `variant`,
    `matrix`, `depth`, `layer`, the mean over the seeds, its interval, `seeds`, where it was measured the `unbiased`
    norm with its standard error and the `noise` of one mini-batch (`WithoutBias`), and, where the models are
    comparable, the `paper`'s value, how it is `known`, and the `ratio` of ours to it. `placement` and `values`, of each
    seed, are in no file.
    """
    square = records.table[records.table["quantity"].isin(UNBIASED)]
    norms = expected_gradients(records.table)
    norms = norms[(norms["stack"] == "decoder") & norms["matrix"].isin(["W1", "W2"])]
    bars = {(bar.placement, bar.state, bar.matrix, bar.layer): bar for bar in records.bars}
    first = norms["depth"].min()
    rows = []
    keys = ["depth", "variant", "state", "placement", "matrix", "layer"]
    squares: Any = dict(list(square[square["stack"] == "decoder"].groupby(keys)))
    models: Any = norms.groupby(keys)
    for (depth, variant, state, placement, matrix, layer), group in models:
        deeper = depth > first
        if deeper and (layer < depth or matrix != "W2"):
            continue
        found = estimate(group["value"].tolist())
        alone = without_bias(squares.get((depth, variant, state, placement, matrix, layer), square.iloc[:0]))
        bar = bars.get((placement, state, matrix, layer)) if depth == first else None
        panels = [] if deeper else [{"W1": "a", "W2": "b"}[matrix]]
        if matrix == "W2" and layer == depth and state == INITIAL and placement in BY_DEPTH:
            panels.append(BY_DEPTH[placement])
        rows.append(
            {
                "figure": "" if variant or placement not in BY_DEPTH else f"3({', '.join(panels)})",
                "placement": placement,
                "model": f"{PLACEMENTS[placement].label}, {'initial' if state == INITIAL else 'after warm-up'}",
                "variant": variant,
                "matrix": matrix,
                "depth": depth,
                "layer": layer,
                "measured": found.mean,
                "low": found.low,
                "high": found.high,
                "seeds": found.n,
                "unbiased": alone.norm,
                "unbiased_error": alone.error,
                "noise": alone.noise,
                "paper": bar.value if bar else math.nan,
                "known": bar.how_known if bar else "",
                "ratio": found.mean / bar.value if bar else math.nan,
                "values": tuple(group["value"].tolist()),
            }
        )
    columns = ["figure", "model", "variant", "matrix", "depth", "layer", "measured", "low", "high", "seeds"]
    columns += ["unbiased", "unbiased_error", "noise"]
    return pd.DataFrame(rows, columns=[*columns, "paper", "known", "ratio", "placement", "values"])


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table rounded to text for readers; of figure 3, a row for each model with its layers side by side."""
    text = table.assign(
        measured=[plus_minus(mean, high - mean) for mean, high in zip(table["measured"], table["high"], strict=True)]
    )
    if "statement" in table.columns:
        hidden = ["id", "placement", "stack", "of", "low", "high", "predicted_low", "predicted_high", "values"]
        text = text.drop(columns=hidden)
        return text.rename(columns={name: name.capitalize() for name in text.columns})
    rows = []
    for (depth, matrix, variant, model), group in text.groupby(["depth", "matrix", "variant", "model"], sort=False):
        cells = {f"Layer {layer}": value for layer, value in zip(group["layer"], group["measured"], strict=True)}
        if depth > table["depth"].min():
            cells = {"Last": group["measured"].iloc[0]}
        about = {"Figure": group["figure"].iloc[0], "Matrix": matrix, "Layers": f"{depth}-{depth}", "Model": model}
        rows.append({**about, "Variant": variant, **cells, "Seeds": str(group["seeds"].iloc[0])})
        if group["unbiased"].notna().any():
            alone = [
                plus_minus(norm, error) for norm, error in zip(group["unbiased"], group["unbiased_error"], strict=True)
            ]
            alone_by = dict(zip(cells, alone, strict=True))
            named = f"{variant}, unbiased" if variant else "unbiased"
            rows.append({**about, "Variant": named, **alone_by, "Seeds": str(group["seeds"].iloc[0])})
        # Once for each model; what is varied stands below it.
        if group["paper"].notna().any() and not variant:
            known = {
                f"Layer {layer}": f"{value:g}" for layer, value in zip(group["layer"], group["paper"], strict=True)
            }
            rows.append({**about, "Variant": "the paper", **known, "Seeds": ""})
    wide = pd.DataFrame(rows).fillna("")
    return wide[[*(name for name in wide.columns if name != "Seeds"), "Seeds"]] if len(wide) else wide


def make_theory(study: Study, records: Records) -> Content:
    """The table of the theory; a terminal shows the exponents of theorem 1 alone."""
    table = theory(records)
    note = (
        "Means over seeds, ± half of the 95% interval. Theorem 1 bounds gradients from above; its exponents are those "
        "of the bounds."
    )
    brief = readable(table[table["statement"] == "Theorem 1"])
    full = table.drop(columns=["values"])
    return Content(full, readable(table), records.progress, [note, *records.origin], brief)


def make_figure_3(study: Study, records: Records) -> Content:
    """The table of figure 3; it is long, and a terminal shows none of it."""
    table = figure_3(records)
    note = (
        "Frobenius norms of the expected gradients of the decoder's feed-forward matrices by layer, and of the "
        "last layer at several depths; means over seeds, ± half of the 95% interval. Rows that are called unbiased are "
        "without the noise of the mini-batches, ± one standard error. Values of the paper, where there are any, are "
        "digitised, those of W1 read off."
    )
    text = readable(table)
    full = table.drop(columns=["placement", "values"])
    return Content(full, text, records.progress, [note, *records.origin], text.iloc[:0])


THEORY = Table(
    name="theory",
    title="The theory",
    caption="What the lemmas, theorem 1 and appendix F predict, beside what was measured.",
    source=SOURCE,
    make=make_theory,
    computed=_COMPUTED,
)
FIGURE_3 = Table(
    name="figure-3",
    title="Figure 3 in numbers",
    caption="The gradients of figure 3, beside the paper's where the models are the same, and with what the paper "
    "leaves open varied.",
    source=SOURCE,
    of=with_gradients,
    make=make_figure_3,
    computed=_COMPUTED,
)
