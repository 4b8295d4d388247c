"""The theory as tables: what is predicted beside what was measured, and figure 3 in numbers with the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from preln.config import Study
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.placements.base import Stack
from preln.report.core.entries import Table
from preln.report.core.forms import MISSING, Content
from preln.report.core.records import having
from preln.report.core.statistics import estimate, exponent, mean, plus_minus
from preln.report.reference.gradients import AROUND, BY_DEPTH
from preln.theory.measurement_jobs import INITIALISATIONS
from preln.theory.measurements import AFTER_WARMUP, DELTA, EPSILON, INITIAL, UNIT_OUTPUT
from preln.theory.report.records import (
    SOURCE,
    UNBIASED,
    Records,
    expected_gradients,
    exponents,
    growth,
    last_gradients,
    layers_of,
    profile,
    sweep,
    unbiased_gradients,
    with_gradients,
    without_bias,
)

_MODEL = ["id", "placement", "stack", "of", "statement", "quantity", "model"]
_NUMBERS = ["measured", "low", "high", "seeds", "predicted_low", "predicted_high", "predicted", "values"]
COLUMNS = [*_MODEL, *_NUMBERS]
"""The columns of the table of the theory."""
_FIGURE_3 = ["figure", "model", "variant", "matrix", "depth", "layer", "measured", "low", "high", "seeds"]
_UNBIASED = ["unbiased", "unbiased_error", "noise"]
_PAPER = ["paper", "known", "ratio"]
_MODELS = {"exact": "proofs", "translation": "translation", "language": "language"}

Row = dict[str, Any]
Model = tuple[str, str, str]
"""Placement, stack, and kind of model: `exact`, the model of the proofs, `translation` or `language`."""


class Predicted(NamedTuple):
    """A prediction as a range and in words; NaN and no words where there is none."""

    low: float = math.nan
    high: float = math.nan
    words: str = ""

    @classmethod
    def exactly(cls, value: float) -> Predicted:
        """One number."""
        return cls(value, value, f"{value:g}")


_NOTHING = Predicted()


def theory(records: Records) -> pd.DataFrame:
    """The statements of the theory, in full precision.

    The columns are the `id` of the quantity, such as `depth-exponent`; `placement`, `stack` and `of` (`Model`); the
    `statement` (lemma, theorem or definition), the `quantity` and the `model` in words; the mean over the seeds as
    `measured`, its 95% interval, and `seeds`; what is predicted as a range, NaN where nothing is, and in words; and the
    `values` of the seeds.
    """
    measured = records.table
    layers = profile(measured)
    rows: list[Row] = []
    for (placement, stack), group in layers.groupby(["placement", "stack"], sort=False):
        rows += _lemmas(group, str(placement), "encoder" if stack == "encoder" else "decoder")
    for name, over, variant, quantity in (
        ("depth-exponent", "depth", "", "exponent of the depth L"),
        ("width-exponent", "width", "", "exponent of the width d, W^emb of variance 1/d"),
        ("width-exponent-unit", "width", UNIT_OUTPUT, "exponent of the width d, W^emb of variance 1"),
    ):
        swept = sweep(measured, over)
        for placement, group in having(swept, variant=variant).groupby("placement"):
            predicted = _of_the_depth(str(placement))
            # Theorem 1 bounds the gradients of the placements that it gives an exponent of the depth.
            if over == "width" and predicted != _NOTHING:
                widths = sorted(set(group["width"]))
                bound = exponent(widths, [d * math.sqrt(math.log(d)) for d in widths])
                predicted = Predicted(-math.inf, bound, f"at most {bound:.2f}")
            model = str(placement), "encoder", "exact"
            rows.append(_row(name, "Theorem 1", quantity, model, exponents(group, over), predicted))
    initial = having(measured, state=INITIAL)
    # Boundedness is a matter of how the weights are drawn, which the paper does not say.
    drawn = initial[initial["variant"].map(_is_of_the_weights).astype(bool)]
    share = f"share of squared norms above {1 + EPSILON:g} of their mean, last layer"
    quantile = f"excess over their mean that all but {DELTA} of the squared norms stay within, last layer"
    for column, quantity, most in (("excess_share", share, DELTA), ("excess_quantile", quantile, EPSILON)):
        last = having(drawn, quantity=column, layer=drawn["depth"])
        for (kind, weights, placement, stack), group in last.groupby(["model", "variant", "placement", "stack"]):
            model = str(placement), str(stack), str(kind)
            predicted = Predicted(-math.inf, most, f"{most} (the paper's measurement)")
            name, values = column.replace("_", "-"), group["value"].tolist()
            rows.append(
                _row(name, "Definition 1", quantity, model, values, predicted, f", {weights}" if weights else "")
            )
    rows += [*_growths(layers, having(initial, variant="")), *_of_figure_3(records)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _is_of_the_weights(variant: str) -> bool:
    """True of a variant that departs from the models as they are trained in how weights are drawn, if in anything."""
    return set(filter(None, variant.split("+"))) <= INITIALISATIONS.keys()


def _lemmas(layers: pd.DataFrame, placement: str, stack: Stack) -> list[Row]:
    """Lemmas 1 to 3 on one stack of the model of the proofs."""
    predictions = PLACEMENTS[placement].predictions
    model = placement, stack, "exact"

    def means(quantity: str, of: pd.DataFrame = layers) -> list[float]:
        return list(having(of, quantity=quantity).groupby("seed")["value"].agg(mean))

    relu = predictions.relu_square_norm
    predicted = _NOTHING if relu is None else Predicted.exactly(relu)
    quantity = "E‖ReLU(x W^1)‖^2 / d, all layers"
    rows = [_row("relu-square-norm", "Lemma 1", quantity, model, means("relu_square_norm"), predicted)]
    numbers = sorted({int(layer) for layer in layers["layer"]})
    lemma = predictions.square_norm
    ranges = [lemma(layer, stack) if lemma else None for layer in numbers]
    if len(set(ranges)) == 1 and ranges[0] and ranges[0][0] == ranges[0][1]:
        values, predicted = means("square_norm"), Predicted.exactly(ranges[0][0])
        rows.append(_row("square-norm", "Lemma 2", "E‖x‖^2 / d, all layers", model, values, predicted))
    else:
        for layer in sorted({numbers[0], numbers[-1]}):
            values = means("square_norm", having(layers, layer=layer))
            bounds = ranges[numbers.index(layer)]
            predicted = Predicted(*bounds, f"{bounds[0]:g} to {bounds[1]:g}") if bounds else _NOTHING
            rows.append(_row("square-norm", "Lemma 2", f"E‖x‖^2 / d, layer {layer}", model, values, predicted))
    jacobian, closed = (
        having(layers, quantity=quantity).set_index(["seed", "layer"])["value"]
        for quantity in ("jacobian_norm", "jacobian_closed_form")
    )
    ratios = (jacobian / closed).groupby("seed").agg(mean).tolist()
    quantity = "‖J‖ over sqrt(d)/‖y‖, all layers"
    rows.append(_row("jacobian-norm", "Lemma 3", quantity, model, ratios, Predicted.exactly(1)))
    return rows


def _growths(layers: pd.DataFrame, initial: pd.DataFrame) -> list[Row]:
    """Appendix F on both models: how the gradient of W^2 grows from layer to layer; `initial` is what was measured of
    the models as they are trained, at initialisation."""
    exact = having(layers, quantity="gradient_norm", variant="")
    gradients = having(pd.concat([exact, expected_gradients(initial)]), matrix="W2")
    gradients = gradients[gradients["stack"] != ""]
    # Where a study has several depths, the shallowest has every stack.
    gradients = having(gradients, depth=gradients.groupby("model")["depth"].transform("min"))
    unbiased = unbiased_gradients(initial)
    quantity = "growth of the gradient of W^2 a layer, towards the output"
    rows = []
    for (kind, placement, stack), group in gradients[gradients["depth"] > 1].groupby(["model", "placement", "stack"]):
        model, depth = (str(placement), str(stack), str(kind)), group["depth"].iloc[0]
        of_stack = {"placement": placement, "stack": stack, "depth": depth}
        sums, alone = having(initial, quantity="square_norm", **of_stack), having(unbiased, matrix="W2", **of_stack)
        # The appendix's factor is one of E||x||^2 / d, which lemma 2 gives for the model of the proofs alone.
        predicted = _growth(str(placement), str(kind), mean(having(sums, model=kind)["value"]))
        rows.append(_row("growth", "Appendix F", quantity, model, growth(group), predicted))
        if kind != "exact" and len(alone):
            rows.append(_row("growth-unbiased", "Appendix F", f"{quantity}, unbiased", model, growth(alone), predicted))
    return rows


def _of_figure_3(records: Records) -> list[Row]:
    """The last decoder layer's W^2 in figure 3, in numbers: its gradient after the warm-up over that at
    initialisation, how it changes with the depth, and its ratio to the paper's, where the model is the paper's."""
    rows = []
    norms, unbiased = (last_gradients(of(records.table)) for of in (expected_gradients, unbiased_gradients))
    kind = next(iter(norms["model"]), "translation")
    for placement in PLACEMENTS:
        model = placement, "decoder", kind
        group, alone = (having(table, placement=placement) for table in (norms, unbiased))
        quantity = "last gradient of W^2, after warm-up over initial"
        if AFTER_WARMUP in set(group["state"]):
            rows.append(_row("collapse", "Figure 3", f"{quantity}, biased", model, _collapse(group)))
            if {INITIAL, AFTER_WARMUP} <= set(alone["state"]):
                rows.append(_row("collapse-unbiased", "Figure 3", f"{quantity}, unbiased", model, _collapse(alone)))
        initial = having(group, state=INITIAL)
        if initial["depth"].nunique() > 1:
            quantity, values = "last gradient of W^2, exponent of the depth", exponents(initial, "depth")
            rows.append(_row("last-depth-exponent", "Figure 3", quantity, model, values, _of_the_depth(placement)))
            quantity = "last gradient of W^2, mean over the depths"
            values = initial.groupby("seed")["value"].agg(mean).tolist()
            around = AROUND.get(placement) if kind == "translation" else None
            predicted = Predicted(around, around, f"around {around:g}") if around else _NOTHING
            rows.append(_row("last-depth-mean", "Figure 3", quantity, model, values, predicted))
    table = figure_3(records)
    last = having(table, variant="", matrix="W2", layer=table["depth"])
    for row in last[last["paper"].notna()].to_dict("records"):
        paper = row["paper"]
        ratios = [value / paper for value in row["values"]]
        quantity = f"last gradient of W^2 over the paper's {paper:g}"
        error = max((bar.error or 0.0 for bar in records.bars if bar.value == paper), default=0.0) / paper
        predicted = Predicted(1 - error, 1 + error, f"1 ± {error:.2g}" if error else "1")
        model = row["placement"], "decoder", "translation"
        in_words = f"{row['model']}, {_MODELS['translation']}"
        rows.append(_row("over-the-papers", "Figure 3", quantity, model, ratios, predicted) | {"model": in_words})
    return rows


def _collapse(norms: pd.DataFrame) -> list[float]:
    """A model's gradient after the warm-up over that of the same seed at initialisation. A seed whose gradient there is
    not above zero is left out, and one that was not measured there is divided by the mean of those that were."""
    later = having(norms, state=AFTER_WARMUP)
    initial = having(norms, state=INITIAL, depth=later["depth"].iloc[0])
    before = dict(zip(initial["seed"], initial["value"], strict=True))
    usual = mean([value for value in before.values() if value > 0])
    pairs = [(value, before.get(seed, usual)) for seed, value in later[["seed", "value"]].to_numpy()]
    return [value / at_first for value, at_first in pairs if at_first > 0]


def _of_the_depth(placement: str) -> Predicted:
    power = PLACEMENTS[placement].predictions.depth_exponent
    return _NOTHING if power is None else Predicted(float(power), float(power), str(power))


def _growth(placement: str, kind: str, square_norm: float) -> Predicted:
    """The factor that appendix F gives the gradient a layer; `square_norm` is the measured E||x||^2 / d."""
    predictions = PLACEMENTS[placement].predictions
    if predictions.growth is None:
        return _NOTHING
    if kind == "exact" and predictions.square_norm:
        low, high = predictions.square_norm(1, "encoder")
        square_norm = low if low == high else square_norm
    factor = predictions.growth(square_norm)
    return Predicted(factor, factor, "about 1" if factor == 1 else f"{factor:.3f}")


def _row(
    name: str,
    statement: str,
    quantity: str,
    model: Model,
    values: Sequence[float],
    predicted: Predicted = _NOTHING,
    variant: str = "",
) -> Row:
    placement, stack, kind = model
    in_words = f"{PLACEMENTS[placement].label} {stack}, {_MODELS[kind]}{variant}"
    measured = estimate(values)
    numbers = (measured.mean, measured.low, measured.high, measured.n, *predicted, tuple(values))
    model_columns = (name, placement, stack, kind, statement, quantity, in_words)
    return dict(zip(COLUMNS, [*model_columns, *numbers], strict=True))


def figure_3(records: Records) -> pd.DataFrame:
    """Figure 3 in numbers: a row for each model, matrix and layer.

    The columns are `figure` (such as `3(a)` or `3(b, c)`; empty for what the paper has not), `model`, `variant`,
    `matrix`, `depth`, `layer`, the mean over the seeds, its interval, `seeds`, where it was measured the `unbiased`
    norm with its standard error and the `noise` of one mini-batch (`WithoutBias`), and, where the models are
    comparable, the `paper`'s value, how it is `known`, and the `ratio` of ours to it. `placement` and `values`, of each
    seed, are in no file.
    """
    decoders = having(records.table, stack="decoder")
    norms = expected_gradients(decoders[decoders["matrix"].isin(["W1", "W2"])])
    bars = {(bar.placement, bar.state, bar.matrix, bar.layer): bar for bar in records.bars}
    papers = {} if "language" in set(norms["model"]) else BY_DEPTH
    first = norms["depth"].min()
    keys = ["depth", "variant", "state", "placement", "matrix", "layer"]
    squares = decoders[decoders["quantity"].isin(UNBIASED)]
    by_model: dict[Any, pd.DataFrame] = dict(iter(squares.groupby(keys)))
    models: Any = norms.groupby(keys)
    rows = []
    for (depth, variant, state, placement, matrix, layer), group in models:
        if depth > first and (layer < depth or matrix != "W2"):
            continue
        measured = estimate(group["value"].tolist())
        alone = without_bias(by_model.get((depth, variant, state, placement, matrix, layer), squares.iloc[:0]))
        bar = bars.get((placement, state, matrix, layer)) if depth == first else None
        panels = [] if depth > first else [{"W1": "a", "W2": "b"}[matrix]]
        if matrix == "W2" and layer == depth and state == INITIAL and placement in papers:
            panels.append(papers[placement])
        figure = "" if variant or placement not in papers else f"3({', '.join(panels)})"
        model = f"{PLACEMENTS[placement].label}, {'initial' if state == INITIAL else 'after warm-up'}"
        paper = (bar.value, bar.how_known, measured.mean / bar.value) if bar else (math.nan, "", math.nan)
        rows.append(
            (
                *(figure, model, variant, matrix, depth, layer, measured.mean, measured.low, measured.high, measured.n),
                *(alone.norm, alone.error, alone.noise, *paper, placement, tuple(group["value"].tolist())),
            )
        )
    return pd.DataFrame(rows, columns=[*_FIGURE_3, *_UNBIASED, *_PAPER, "placement", "values"])


def _texts(means: pd.Series, errors: pd.Series) -> list[str]:
    pairs = zip(means, errors, strict=True)
    return [MISSING if math.isnan(mean) else plus_minus(mean, error) for mean, error in pairs]


def _readable_theory(table: pd.DataFrame) -> pd.DataFrame:
    text = table.assign(measured=_texts(table["measured"], table["high"] - table["measured"]))
    text = text[["statement", "quantity", "model", "measured", "seeds", "predicted"]]
    return text.rename(columns=str.capitalize)


def _readable_figure_3(table: pd.DataFrame, records: Records) -> pd.DataFrame:
    """The table of figure 3 for readers: a row for each model, with its layers side by side."""
    rows = []
    for (depth, matrix, variant, model), group in table.groupby(["depth", "matrix", "variant", "model"], sort=False):
        layers = ["Last"] if depth > table["depth"].min() else [f"Layer {layer}" for layer in group["layer"]]
        size = layers_of(depth, records.table)
        about = {"Figure": group["figure"].iloc[0], "Matrix": matrix, "Layers": size, "Model": model}
        seeds = str(group["seeds"].iloc[0])
        cells = dict(zip(layers, _texts(group["measured"], group["high"] - group["measured"]), strict=True))
        rows.append({**about, "Variant": variant, **cells, "Seeds": seeds})
        if group["unbiased"].notna().any():
            cells = dict(zip(layers, _texts(group["unbiased"], group["unbiased_error"]), strict=True))
            rows.append({**about, "Variant": f"{variant}, unbiased".removeprefix(", "), **cells, "Seeds": seeds})
        # Once for each model; what is varied stands below it.
        if group["paper"].notna().any() and not variant:
            cells = dict(zip(layers, group["paper"].map("{:g}".format), strict=True))
            rows.append({**about, "Variant": "the paper", **cells, "Seeds": ""})
    wide = pd.DataFrame(rows).fillna("")
    return wide[[*(name for name in wide.columns if name != "Seeds"), "Seeds"]] if len(wide) else wide


def make_theory(study: Study, records: Records) -> Content:
    """The table of the theory; a terminal shows the exponents of theorem 1 alone."""
    table = theory(records)
    note = (
        "Means over seeds, ± half of the 95% interval. Theorem 1 bounds gradients from above; its exponents are those "
        "of the bounds."
    )
    brief = _readable_theory(having(table, statement="Theorem 1"))
    full = table.drop(columns=["values"])
    return Content(full, _readable_theory(table), records.progress, [note, *records.origin], brief)


def make_figure_3(study: Study, records: Records) -> Content:
    """The table of figure 3; it is long, and a terminal shows none of it."""
    table = figure_3(records)
    note = (
        "Frobenius norms of the expected gradients of the decoder's feed-forward matrices by layer, and of the "
        "last layer at several depths; means over seeds, ± half of the 95% interval. Rows that are called unbiased are "
        "without the noise of the mini-batches, ± one standard error. Values of the paper, where there are any, are "
        "digitised, those of W1 read off."
    )
    text = _readable_figure_3(table, records)
    full = table.drop(columns=["placement", "values"])
    return Content(full, text, records.progress, [note, *records.origin], text.iloc[:0])


THEORY = Table(
    name="theory",
    title="The theory",
    caption="What the lemmas, theorem 1 and appendix F predict, beside what was measured.",
    source=SOURCE,
    make=make_theory,
    computed=("measured", "low", "high", "predicted_low", "predicted_high"),
)
FIGURE_3 = Table(
    name="figure-3",
    title="Figure 3 in numbers",
    caption="The gradients of figure 3, beside the paper's where the models are the same, and with what the paper "
    "leaves open varied.",
    source=SOURCE,
    of=with_gradients,
    make=make_figure_3,
    computed=("measured", "low", "high", "ratio", *_UNBIASED),
)
