"""The figures to look into: curves to hover over, to zoom, and to switch on and off, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import seaborn

from preln.report import figures
from preln.report.core.labels import PLACEMENTS, TASKS, label, varying
from preln.report.core.statistics import Estimate, estimate, extent
from preln.report.html.content import Content
from preln.report.pretraining import figure_5
from preln.report.pretraining import records as pretraining_records
from preln.report.products import FIGURE_OF_PRETRAINING
from preln.report.reference.translation import Quantity
from preln.report.theory import records as theory_records
from preln.report.theory.records import STATES
from preln.report.translation.drawing import COLUMNS, Layout
from preln.runs import series

HEIGHT = 340  # pixels
INTERVAL = ("95% interval from", "to")
EXTENT = ("Lowest", "Highest")
"""What the ends of a band are called: of an `estimate`, and of an `extent`."""
_PALETTE = seaborn.color_palette("colorblind").as_hex()
_PAPER = "the paper"
_AXES: dict[Quantity, str] = {"valid_loss": "Validation loss (bits/token)", "bleu": "BLEU of test (%)"}


@dataclass(frozen=True)
class Chart:
    """One chart: its title, its Vega-Lite specification with the data in it, and what no curve shows."""

    title: str
    spec: dict[str, Any]
    note: str = ""


def of_figure(name: str, shown: Content) -> list[Chart]:
    """The charts that show what a figure shows; none for a figure that is an image alone."""
    if name in figures.OF_RUNS:
        return _of_runs(figures.OF_RUNS[name], shown)
    if name == FIGURE_OF_PRETRAINING:
        return _of_pretraining(shown)
    if name == "3":
        return _of_gradients(shown.theory)
    return []


def _of_gradients(measured: theory_records.Records) -> list[Chart]:
    """The expected gradients of the decoder's W^2, by layer and of the last layer by depth."""
    norms = theory_records.expected_gradients(measured.table)
    norms = norms[(norms["stack"] == "decoder") & (norms["variant"] == "") & (norms["matrix"] == "W2")]
    if norms.empty:
        return []
    names = [f"{PLACEMENTS[p]}, {STATES[s]}" for p, s in zip(norms["placement"], norms["state"], strict=True)]
    norms = norms.assign(curve=names)
    first = norms[norms["depth"] == norms["depth"].min()]
    last = norms[(norms["layer"] == norms["depth"]) & (norms["state"] == "initial")]
    paper = pd.DataFrame(
        [
            {
                "curve": f"{_PAPER}: {PLACEMENTS[bar.placement]}, {STATES[bar.state]}",
                "layer": bar.layer,
                "value": bar.value,
            }
            for bar in measured.bars
            if bar.matrix == "W2"
        ]
    )
    charts = [
        Chart(
            "Expected gradient of W² by decoder layer", _curves(_means(first, "layer"), "layer", "Layer", "Norm", paper)
        )
    ]
    if last["depth"].nunique() > 1:
        charts.append(
            Chart(
                "The last layer's, by depth", _curves(_means(last, "depth"), "depth", "Layers of the decoder", "Norm")
            )
        )
    return charts


def _of_runs(layout: Layout, shown: Content) -> list[Chart]:
    mine = [run for run in shown.runs if layout.number in run.figures]
    differing = varying(run.settings for run in mine) | layout.always
    diverged = shown.done[shown.done["status"] == "diverged"].set_index("run")["diverged_update"]
    names = {run.id: label(series(run.settings), differing) for run in mine}
    # A seed that diverged is no part of its run's mean.
    names |= {run.id: f"{names[run.id]}, seed {run.settings.seed}" for run in mine if run.id in diverged.index}
    charts = []
    for panel in [panel for row in layout.panels(shown.study, mine) for panel in row if panel.runs]:
        column, axis = COLUMNS[panel.quantity], _AXES[panel.quantity]
        curves = shown.curves[shown.curves["run"].isin([run.id for run in panel.runs])]
        if curves.empty:
            continue
        curves = curves.assign(curve=curves["run"].map(names), value=curves[column])
        paper = pd.DataFrame(
            [
                {"curve": f"{_PAPER}: {entry.series} ({entry.how_known})", "epoch": entry.x, "value": entry.y}
                for entry in panel.references
                if entry.y is not None
            ]
        )
        title = f"{panel.title}: {axis}" if panel.title else axis
        ended = [f"{names[run.id]} at update {diverged[run.id]}" for run in panel.runs if run.id in diverged.index]
        note = f"Diverged: {'; '.join(ended)}." if ended else ""
        means = _means(curves, "epoch", extent)
        charts.append(Chart(title, _curves(means, "epoch", "Epoch", axis, paper, EXTENT), note))
    return charts


def _of_pretraining(shown: Content) -> list[Chart]:
    found = shown.bert
    if found.curves.empty:
        return []
    names = figure_5.names_of(found.runs)
    losses = found.curves.assign(
        curve=found.curves["run"].map(names), value=found.curves["valid_loss"], update=found.curves["updates"]
    )
    axis = "Masked-LM loss (bits/token)"
    charts = [Chart("(a) Validation loss", _curves(_means(losses, "update"), "update", "Update", axis))]
    scores = []
    for job in found.jobs:
        best = pretraining_records.chosen(pretraining_records.scores_of(found, job))
        if best is not None:
            of, percent = {"task": job.task_name, "update": job.update, "curve": names[job.run.id]}, best.accuracy
            interval = {"value": 100 * percent.mean, "low": 100 * percent.low, "high": 100 * percent.high}
            scores.append({**of, **interval, "seeds": percent.n})
    table = pd.DataFrame(scores, columns=["task", "update", "curve", "value", "low", "high", "seeds"])
    for letter, (task, group) in zip("bcdefgh", table.groupby("task", sort=False), strict=False):
        always = [
            {"curve": "always the more frequent label", "update": update, "value": 100 * found.majority[str(task)]}
            for update in sorted(set(group["update"]))
        ]
        title = f"({letter}) {TASKS.get(shown.study.tasks[str(task)].source, str(task))}"
        spec = _curves(group.drop(columns="task"), "update", "Update", "Accuracy on dev (%)", pd.DataFrame(always))
        charts.append(Chart(title, spec))
    return charts


def _means(data: pd.DataFrame, x: str, over: Callable[[Sequence[float]], Estimate] = estimate) -> pd.DataFrame:
    """The mean of each curve at each `x` over the seeds, with the ends of its band where there are several."""
    rows = []
    for (curve, where), group in data.groupby(["curve", x], sort=False):
        found = over(group["value"].tolist())
        rows.append(
            {"curve": curve, x: where, "value": found.mean, "low": found.low, "high": found.high, "seeds": found.n}
        )
    return pd.DataFrame(rows)


def _curves(
    means: pd.DataFrame,
    x: str,
    x_title: str,
    y_title: str,
    reference: pd.DataFrame | None = None,
    ends: tuple[str, str] = INTERVAL,
) -> dict[str, Any]:
    """Curves by their column `curve` over `x`, with bands; those of the reference are grey and broken."""
    ours = list(dict.fromkeys(means["curve"]))
    others = list(dict.fromkeys(reference["curve"])) if reference is not None and len(reference) else []
    table = pd.concat([means, reference], ignore_index=True) if others else means
    colours = [*(_PALETTE[i % len(_PALETTE)] for i in range(len(ours))), *["#777777"] * len(others)]
    shown = alt.selection_point(fields=["curve"], bind="legend", toggle="true")
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=0, title="Click to switch on and off")
    scale = alt.Scale(domain=[*ours, *others], range=colours)
    base = alt.Chart(table).encode(x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickMinStep=1)))
    lines = base.mark_line(point=True).encode(
        color=alt.Color("curve:N", scale=scale, legend=legend),
        y=alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=False)),
        strokeDash=alt.condition(
            alt.FieldOneOfPredicate(field="curve", oneOf=others), alt.value([4, 3]), alt.value([1, 0])
        ),
        opacity=alt.condition(shown, alt.value(1.0), alt.value(0.05)),
        tooltip=[
            alt.Tooltip("curve:N", title="Run"),
            alt.Tooltip(f"{x}:Q", title=x_title),
            alt.Tooltip("value:Q", title=y_title, format=".4~g"),
            alt.Tooltip("low:Q", title=ends[0], format=".4~g"),
            alt.Tooltip("high:Q", title=ends[1], format=".4~g"),
            alt.Tooltip("seeds:Q", title="Seeds"),
        ],
    )
    layers = [lines.add_params(shown)]
    if table["low"].notna().any():
        bands = base.mark_area().encode(
            # One legend is enough, and a selection is bound to one that a single layer has.
            color=alt.Color("curve:N", scale=scale, legend=None),
            y="low:Q",
            y2="high:Q",
            opacity=alt.condition(shown, alt.value(0.15), alt.value(0.0)),
        )
        layers.insert(0, bands)
    chart = (
        alt.layer(*layers)
        .resolve_legend(color="independent")
        .properties(width="container", height=HEIGHT)
        .interactive()
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec
