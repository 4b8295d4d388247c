"""The theory as tables: what is predicted beside what was measured, and figure 3 in numbers with the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study
from preln.errors import PrelnError
from preln.files import write_text
from preln.report.labels import PLACEMENTS
from preln.report.statistics import Estimate, estimate, exponent
from preln.report.tables import escaped, floating, require_forms
from preln.report.theory_records import (
    Records,
    expected_gradients,
    exponents,
    growth,
    load,
    profile,
    sweep,
)
from preln.theory.closed_forms import (
    DECAY,
    DELTA,
    EPSILON,
    post_ln_square_norm,
    pre_ln_square_norm,
    relu_square_norm,
)
from preln.theory.measurements import UNIT_OUTPUT
from preln.theory.parts import Part


@dataclass(frozen=True)
class Row:
    """One statement of the theory.

    Attributes:
        statement: lemma, theorem or definition.
        quantity: what was measured.
        model: placement and stack.
        measured: mean over the seeds; the interval is 95%.
        predicted: the paper's or its lemma's value, in words where it is a range.
    """

    statement: str
    quantity: str
    model: str
    measured: float
    low: float
    high: float
    seeds: int
    predicted: str


def write(name: str, study: Study, parts: Sequence[Part], results: Path, out: Sequence[Path]) -> None:
    """Write a table of the theory to each file of `out`, in the form of its suffix (csv, md, tex).

    Args:
        name: `theory` or `figure-3`.
        study: the study.
        parts: all parts of its theory.
        results: folder of the results of all studies.
        out: the files to write.

    Raises:
        RecordError: if a record cannot be used.
        PrelnError: if there is no such table, or a suffix is of no such form.
    """
    if name not in _TABLES:
        raise PrelnError(f"table {name}: not made; allowed: runs, pretraining, finetuning, {', '.join(_TABLES)}")
    require_forms(out)
    records = load(study, parts, results)
    table = _TABLES[name](records)
    text = readable(table)
    notes = " ".join([records.progress, _NOTES[name], *records.origin])
    texts = {
        ".csv": table.to_csv(index=False, lineterminator="\n"),
        ".md": f"{text.to_markdown(index=False, disable_numparse=True)}\n\n{notes}\n",
        ".tex": _latex(text, notes, f"tab:{name}-{study.study}"),
    }
    for path in out:
        write_text(path, texts[path.suffix])


def plain(study: Study, parts: Sequence[Part], results: Path) -> str:
    """Theorem 1's exponents as text for a terminal, with a title; of the rest, the tables and figures tell.

    Raises:
        RecordError: if a record cannot be used.
    """
    records = load(study, parts, results)
    table = theory(records)
    text = readable(table[table["statement"] == "Theorem 1"])
    shown = [text.to_markdown(index=False, tablefmt="simple", disable_numparse=True)] if len(text) else []
    return "\n\n".join([records.progress, *shown]) + "\n"


_MODELS = {"exact": "proofs", "translation": "translation"}
_NOTES = {
    "theory": "Means over seeds, ± half of the 95% interval. Theorem 1 bounds gradients from above; its exponents are "
    "those of the bounds.",
    "figure-3": "Frobenius norms of the expected gradients of the decoder's feed-forward matrices by layer, and at "
    "several depths of the last layer; means over seeds, ± half of the 95% interval. Values of the paper, where there "
    "are any, are digitised, those of W1 read off.",
}


def theory(records: Records) -> pd.DataFrame:
    """The statements of the theory, in full precision, in the columns of `Row`."""
    measured = records.table
    layers = profile(measured)
    rows: list[Row] = []
    for (placement, stack), group in layers.groupby(["placement", "stack"], sort=False):
        rows += _lemmas(group, str(placement), str(stack))
    for over, variant, what in (
        ("depth", "", "exponent of the depth L"),
        ("width", "", "exponent of the width d, W^emb of variance 1/d"),
        ("width", UNIT_OUTPUT, "exponent of the width d, W^emb of variance 1"),
    ):
        swept = sweep(measured, over)
        for placement, mine in swept[swept["variant"] == variant].groupby("placement"):
            predicted = {"post": "0", "pre": "-1/2"}[str(placement)]
            if over == "width":
                widths = sorted(set(mine["width"]))
                bound = exponent(widths, [d * math.sqrt(math.log(d)) for d in widths])
                predicted = f"at most {bound:.2f}"
            found = estimate(exponents(mine, over))
            rows.append(
                _row("Theorem 1", what, f"{PLACEMENTS[str(placement)]} encoder, {_MODELS['exact']}", found, predicted)
            )
    hidden = measured[(measured["variant"] == "") & (measured["state"] == "initial")]
    for quantity, what, predicted in (
        ("excess_share", f"share of squared norms above {1 + EPSILON:g} of their mean, last layer", f"{DELTA}"),
        (
            "excess_quantile",
            f"excess over their mean that all but {DELTA} of the squared norms stay within, last layer",
            f"{EPSILON}",
        ),
    ):
        mine = hidden[(hidden["quantity"] == quantity) & (hidden["layer"] == hidden["depth"])]
        for (model, placement, stack), group in mine.groupby(["model", "placement", "stack"]):
            label = f"{PLACEMENTS[str(placement)]} {stack}, {_MODELS[str(model)]}"
            rows.append(
                _row(
                    "Definition 1",
                    what,
                    label,
                    estimate(group["value"].tolist()),
                    f"{predicted} (the paper's measurement)",
                )
            )
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
            label = f"{PLACEMENTS[str(placement)]} {stack}, {_MODELS[str(model)]}"
            predicted = "about 1"
            if placement == "post":
                # The appendix's factor is the root of E||x||^2 / d, which is 3/2 in the model of the proofs alone.
                sums = hidden[(hidden["quantity"] == "square_norm") & (hidden["depth"] == group["depth"].iloc[0])]
                sums = sums[(sums["model"] == model) & (sums["placement"] == placement) & (sums["stack"] == stack)]
                predicted = f"{1 / DECAY if model == 'exact' else math.sqrt(sums['value'].mean()):.3f}"
            what = "growth of the gradient of W^2 a layer, towards the output"
            rows.append(_row("Appendix F", what, label, estimate(growth(group)), predicted))
    return pd.DataFrame([asdict(row) for row in rows], columns=[*Row.__dataclass_fields__])


def _lemmas(layers: pd.DataFrame, placement: str, stack: str) -> list[Row]:
    """Lemmas 1 to 3 on one stack of the model of the proofs."""
    label = f"{PLACEMENTS[placement]} {stack}, {_MODELS['exact']}"

    def means(quantity: str, of: pd.DataFrame = layers) -> list[float]:
        return list(of[of["quantity"] == quantity].groupby("seed")["value"].mean())

    rows = [
        _row(
            "Lemma 1",
            "E‖ReLU(x W^1)‖^2 / d, all layers",
            label,
            estimate(means("relu_square_norm")),
            f"{relu_square_norm(1):g}",
        )
    ]
    if placement == "post":
        rows.append(
            _row(
                "Lemma 2",
                "E‖x‖^2 / d, all layers",
                label,
                estimate(means("square_norm")),
                f"{post_ln_square_norm(1):g}",
            )
        )
    else:
        for layer in sorted({int(layers["layer"].min()), int(layers["layer"].max())}):
            low, high = pre_ln_square_norm(1, layer, stack)  # type: ignore[arg-type]
            found = estimate(means("square_norm", layers[layers["layer"] == layer]))
            rows.append(_row("Lemma 2", f"E‖x‖^2 / d, layer {layer}", label, found, f"{low:g} to {high:g}"))
    keys = ["seed", "layer"]
    jacobian = layers[layers["quantity"] == "jacobian_norm"].set_index(keys)["value"]
    closed = layers[layers["quantity"] == "jacobian_closed_form"].set_index(keys)["value"]
    ratio = (jacobian / closed).groupby("seed").mean()
    rows.append(_row("Lemma 3", "‖J‖ over sqrt(d)/‖y‖, all layers", label, estimate(ratio.tolist()), "1"))
    return rows


def _row(statement: str, quantity: str, model: str, found: Estimate, predicted: str) -> Row:
    return Row(statement, quantity, model, found.mean, found.low, found.high, found.n, predicted)


def figure_3(records: Records) -> pd.DataFrame:
    """Figure 3 in numbers: a row for each model, matrix and layer.

    The columns are `figure` (such as `3(a)` or `3(b, c)`; empty for what the paper has not), `model`, `variant`,
    `matrix`, `depth`, `layer`, the mean over the seeds, its interval, `seeds`, and, where the models are comparable,
    the `paper`'s value, how it is `known`, and the `ratio` of ours to it.
    """
    norms = expected_gradients(records.table)
    norms = norms[(norms["stack"] == "decoder") & norms["matrix"].isin(["W1", "W2"])]
    bars = {(bar.placement, bar.state, bar.matrix, bar.layer): bar for bar in records.bars}
    first = norms["depth"].min()
    rows = []
    keys = ["depth", "variant", "state", "placement", "matrix", "layer"]
    models: Any = norms.groupby(keys)
    for (depth, variant, state, placement, matrix, layer), group in models:
        deeper = depth > first
        if deeper and (layer < depth or matrix != "W2"):
            continue
        found = estimate(group["value"].tolist())
        bar = bars.get((placement, state, matrix, layer)) if depth == first else None
        panels = [] if deeper else [{"W1": "a", "W2": "b"}[matrix]]
        if matrix == "W2" and layer == depth and state == "initial":
            panels.append({"post": "c", "pre": "d"}[placement])
        rows.append(
            {
                "figure": "" if variant else f"3({', '.join(panels)})",
                "model": f"{PLACEMENTS[placement]}, {'initial' if state == 'initial' else 'after warm-up'}",
                "variant": variant,
                "matrix": matrix,
                "depth": depth,
                "layer": layer,
                "measured": found.mean,
                "low": found.low,
                "high": found.high,
                "seeds": found.n,
                "paper": bar.value if bar else math.nan,
                "known": bar.how_known if bar else "",
                "ratio": found.mean / bar.value if bar else math.nan,
            }
        )
    columns = ["figure", "model", "variant", "matrix", "depth", "layer", "measured", "low", "high", "seeds"]
    return pd.DataFrame(rows, columns=[*columns, "paper", "known", "ratio"])


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A table rounded to text for readers; of figure 3, a row for each model with its layers side by side."""
    text = table.assign(
        measured=[
            f"{mean:#.3g}" + ("" if math.isnan(high) else f" ± {high - mean:.2g}")
            for mean, high in zip(table["measured"], table["high"], strict=True)
        ]
    )
    if "statement" in table.columns:
        text = text.drop(columns=["low", "high"])
        return text.rename(columns={name: name.capitalize() for name in text.columns})
    rows = []
    for (depth, matrix, variant, model), group in text.groupby(["depth", "matrix", "variant", "model"], sort=False):
        cells = {f"Layer {layer}": value for layer, value in zip(group["layer"], group["measured"], strict=True)}
        if depth > table["depth"].min():
            cells = {"Last": group["measured"].iloc[0]}
        about = {"Figure": group["figure"].iloc[0], "Matrix": matrix, "Layers": f"{depth}-{depth}", "Model": model}
        rows.append({**about, "Variant": variant, **cells, "Seeds": str(group["seeds"].iloc[0])})
        # Once for each model; what is varied stands below it.
        if group["paper"].notna().any() and not variant:
            known = {
                f"Layer {layer}": f"{value:g}" for layer, value in zip(group["layer"], group["paper"], strict=True)
            }
            rows.append({**about, "Variant": "the paper", **known, "Seeds": ""})
    wide = pd.DataFrame(rows).fillna("")
    return wide[[*(name for name in wide.columns if name != "Seeds"), "Seeds"]] if len(wide) else wide


def _latex(text: pd.DataFrame, notes: str, label: str) -> str:
    """The readable table as a LaTeX `table*`, which needs the package booktabs."""
    rows = text.map(lambda cell: escaped(str(cell))).rename(columns=escaped).to_latex(index=False, escape=False)
    return floating(notes, label, [rows.rstrip()])


_TABLES = {"theory": theory, "figure-3": figure_3}
