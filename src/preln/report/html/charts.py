"""The figures to look into: curves to hover over, to zoom, and to switch on and off, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import seaborn

from preln.config import Study
from preln.report import figure_5, figures, pretraining_records, records, theory_records
from preln.report.drawing import COLUMNS, Layout
from preln.report.labels import PLACEMENTS, TASKS, label, varying
from preln.report.reference import Quantity
from preln.report.theory_records import STATES
from preln.runs import Run, series

HEIGHT = 340  # pixels
_PALETTE = seaborn.color_palette("colorblind").as_hex()
_PAPER = "the paper"
_AXES: dict[Quantity, str] = {"valid_loss": "Validation loss (bits/token)", "bleu": "BLEU of test (%)"}


@dataclass(frozen=True)
class Chart:
    """One chart: its title, its Vega-Lite specification with the data in it, and what no curve shows."""

    title: str
    spec: dict[str, Any]
    note: str = ""


def of_figure(name: str, study: Study, runs: Sequence[Run], results: Path) -> list[Chart]:
    """The charts that show what a figure shows; none for a figure that is an image alone.

    Raises:
        RecordError: if a record cannot be used.
    """
    if name in figures.OF_RUNS:
        return _of_runs(figures.OF_RUNS[name], study, runs, results)
    if name == figures.OF_PRETRAINING:
        return _of_pretraining(study, results)
    return []


def of_gradients(measured: theory_records.Records) -> list[Chart]:
    """Figure 3: the expected gradients of the decoder's W^2, by layer and of the last layer by depth."""
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
    charts = [Chart("Expected gradient of W² by decoder layer", _curves(first, "layer", "Layer", "Norm", paper))]
    if last["depth"].nunique() > 1:
        charts.append(Chart("The last layer's, by depth", _curves(last, "depth", "Layers of the decoder", "Norm")))
    return charts


def _of_runs(layout: Layout, study: Study, runs: Sequence[Run], results: Path) -> list[Chart]:
    mine = [run for run in runs if layout.number in run.figures]
    known = records.curves(study, mine, results)
    if known.empty:
        return []
    differing = varying(run.settings for run in mine) | layout.always
    names = {run.id: label(series(run.settings), differing) for run in mine}
    known = known.assign(curve=known["run"].map(names))
    done = records.summary(study, mine, results)
    diverged = done[done["status"] == "diverged"].set_index("run")["diverged_update"]
    charts = []
    for panel in [panel for row in layout.panels(study, mine) for panel in row if panel.runs]:
        column, axis = COLUMNS[panel.quantity], _AXES[panel.quantity]
        shown = known[known["run"].isin([run.id for run in panel.runs])]
        shown = shown.assign(value=shown[column])
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
        charts.append(Chart(title, _curves(shown, "epoch", "Epoch", axis, paper), note))
    return charts


def _of_pretraining(study: Study, results: Path) -> list[Chart]:
    found = pretraining_records.load(study, results)
    if found.curves.empty:
        return []
    names = figure_5.names_of(found.runs)
    losses = found.curves.assign(
        curve=found.curves["run"].map(names), value=found.curves["valid_loss"], seed=1, update=found.curves["updates"]
    )
    charts = [Chart("(a) Validation loss", _curves(losses, "update", "Update", "Masked-LM loss (bits/token)"))]
    scores = []
    for job in found.jobs:
        best = pretraining_records.chosen(pretraining_records.scores_of(found, job))
        if best is not None:
            value = 100 * best.accuracy.mean
            scores.append(
                {"task": job.task_name, "update": job.update, "curve": names[job.run.id], "value": value, "seed": 1}
            )
    table = pd.DataFrame(scores, columns=["task", "update", "curve", "value", "seed"])
    for letter, (task, group) in zip("bcdefgh", table.groupby("task", sort=False), strict=False):
        title = f"({letter}) {TASKS.get(study.tasks[str(task)].source, str(task))}"
        charts.append(Chart(title, _curves(group, "update", "Update", "Accuracy on dev (%)")))
    return charts


def _curves(
    data: pd.DataFrame, x: str, x_title: str, y_title: str, paper: pd.DataFrame | None = None
) -> dict[str, Any]:
    """Curves by their column `curve`, one for each seed, over `x`; the paper's are grey and broken."""
    names = list(dict.fromkeys(data["curve"]))
    rows = [data[["curve", x, "value", "seed"]]]
    if paper is not None and len(paper):
        names += list(dict.fromkeys(paper["curve"]))
        rows.append(paper.assign(seed=0))
    ours = [_PALETTE[i % len(_PALETTE)] for i in range(data["curve"].nunique())]
    scale = alt.Scale(domain=names, range=[*ours, *["#777777"] * (len(names) - len(ours))])
    shown = alt.selection_point(fields=["curve"], bind="legend", toggle="true")
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=0, title="Click to switch on and off")
    chart = (
        alt.Chart(pd.concat(rows, ignore_index=True))
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=False)),
            color=alt.Color("curve:N", scale=scale, legend=legend),
            strokeDash=alt.condition(f"indexof(datum.curve, '{_PAPER}') == 0", alt.value([4, 3]), alt.value([1, 0])),
            detail="seed:N",
            opacity=alt.condition(shown, alt.value(1.0), alt.value(0.05)),
            tooltip=[
                alt.Tooltip("curve:N", title="Run"),
                alt.Tooltip(f"{x}:Q", title=x_title),
                alt.Tooltip("value:Q", title=y_title, format=".4~g"),
                alt.Tooltip("seed:N", title="Seed"),
            ],
        )
        .add_params(shown)
        .properties(width="container", height=HEIGHT)
        .interactive()
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec
