"""The figures to look into: curves to hover over, to zoom, and to switch on and off, as Vega-Lite."""

from __future__ import annotations

from typing import Any

import altair as alt

from preln.libraries import pd
from preln.report.core.curves import Curves
from preln.report.core.style import PALETTE

HEIGHT = 340  # pixels
# A trace has a point for each update.
alt.data_transformers.disable_max_rows()


def specification(curves: Curves) -> dict[str, Any]:
    """The chart of some curves in Vega-Lite, with the data in it: bands around them, and what they are compared with
    grey and broken."""
    x, x_title, y_title = curves.x, curves.x_title, curves.y_title
    ours = list(dict.fromkeys(curves.table["curve"]))
    others = list(dict.fromkeys(curves.reference["curve"])) if len(curves.reference) else []
    table = pd.concat([curves.table, curves.reference], ignore_index=True) if others else curves.table
    colours = [*(PALETTE[i % len(PALETTE)] for i in range(len(ours))), *["#777777"] * len(others)]
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
            alt.Tooltip("low:Q", title=curves.ends[0], format=".4~g"),
            alt.Tooltip("high:Q", title=curves.ends[1], format=".4~g"),
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
