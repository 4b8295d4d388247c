"""The figures to look into: curves to hover over, to zoom, and to switch on and off, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import altair as alt

from preln.libraries import mpl, pd
from preln.report.core.curves import Curves

HEIGHT = 320  # pixels
OFF = "off"
"""The parameter of a chart that lists the curves which are switched off."""
_SHOWN = f"indexof({OFF}, datum.curve) < 0"
# A trace has a point for each update.
alt.data_transformers.disable_max_rows()


class Swatch(NamedTuple):
    """A curve as a legend shows it: its name, its colour, the dashes of its line, and the outline of its marker in a
    square from -1 to 1, a point where it has none."""

    name: str
    colour: str
    dashes: list[float]
    marker: str


def legend(curves: Curves) -> list[Swatch]:
    """The curves of a chart, as its image has them."""
    return [_swatch(name, look) for name, look in curves.looks.items()]


def specification(curves: Curves) -> dict[str, Any]:
    """The chart of some curves in Vega-Lite, with the data in it: bands around them, and what they are compared with
    behind them. Its legend stands beside it on the page, for a keyboard does not reach into a chart."""
    x, x_title, y_title = curves.x, curves.x_title, curves.y_title
    table = pd.concat([curves.table, curves.reference], ignore_index=True) if len(curves.reference) else curves.table
    table = _drawable(table, curves)
    names, colours, dashes, markers = zip(*legend(curves), strict=True)
    log = "x" in curves.log
    scales = {"x": _scale(log), "y": _scale("y" in curves.log)}
    # Updates and layers are whole; the sums of rates, which are not, have a logarithmic axis.
    axis = alt.Axis(labelSeparation=8) if log else alt.Axis(labelSeparation=8, tickMinStep=1)
    base = alt.Chart(table).encode(
        x=alt.X(f"{x}:Q", title=x_title, scale=scales["x"], axis=axis),
        color=alt.Color("curve:N", scale=alt.Scale(domain=names, range=colours), legend=None),
    )
    values = alt.Y("value:Q", title=y_title, scale=scales["y"])
    opacity = alt.condition(_SHOWN, alt.value(1.0), alt.value(0.05))
    lines = base.mark_line().encode(
        y=values,
        strokeDash=alt.StrokeDash("curve:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
        opacity=opacity,
    )
    points = base.mark_point(filled=True, size=45).encode(
        y=values,
        shape=alt.Shape("curve:N", scale=alt.Scale(domain=names, range=markers), legend=None),
        opacity=opacity,
        tooltip=[
            alt.Tooltip("curve:N", title="Run"),
            alt.Tooltip(f"{x}:Q", title=x_title),
            alt.Tooltip("value:Q", title=y_title, format=".4~g"),
            alt.Tooltip("low:Q", title=curves.ends[0], format=".4~g"),
            alt.Tooltip("high:Q", title=curves.ends[1], format=".4~g"),
            alt.Tooltip("seeds:Q", title="Seeds"),
        ],
    )
    layers = [lines, points]
    if table["low"].notna().any():
        faint = alt.condition(_SHOWN, alt.value(0.15), alt.value(0.0))
        layers.insert(0, base.mark_area().encode(y=alt.Y("low:Q", scale=scales["y"]), y2="high:Q", opacity=faint))
    chart = alt.layer(*layers).add_params(alt.param(name=OFF, value=[])).properties(width="container", height=HEIGHT)
    spec: dict[str, Any] = chart.interactive().configure(background="white", aria=False).to_dict()
    return spec


def _scale(log: bool) -> alt.Scale:
    """An axis with room for a whole marker at both of its ends."""
    return alt.Scale(type="log", nice=False, padding=8) if log else alt.Scale(zero=False, nice=False, padding=8)


def _drawable(table: pd.DataFrame, curves: Curves) -> pd.DataFrame:
    """The points that have a place on the axes: a logarithm is of positive numbers alone."""
    columns = [*([curves.x] if "x" in curves.log else []), *(["value", "low", "high"] if "y" in curves.log else [])]
    positive = table.assign(**{column: table[column].where(table[column] > 0) for column in columns})
    return positive.dropna(subset=[curves.x, "value"])


def _swatch(name: str, look: Mapping[str, Any]) -> Swatch:
    line = look.get("linestyle", "-")
    named = mpl.lines.Line2D([], [], linestyle=line).get_linestyle()
    dashes = [1.5 * length for length in line[1]] if isinstance(line, tuple) else _DASHES[str(named)]
    style = mpl.markers.MarkerStyle(look.get("marker", "none"))
    outlines: Any = style.get_path().transformed(style.get_transform()).to_polygons()
    # Half as wide as the square, and with the vertical axis upwards. Vega takes no outline for a circle.
    marker = (
        "".join(f"M{'L'.join(f'{2 * x:.2f},{-2 * y:.2f}' for x, y in outline)}Z" for outline in outlines) or "M0,0Z"
    )
    return Swatch(name, mpl.colors.to_hex(look["color"]), dashes, marker)


_DASHES: dict[str, list[float]] = {"-": [1, 0], "None": [0, 1], "--": [5, 2.5], ":": [1.5, 2], "-.": [8, 2, 1.5, 2]}
"""The dashes of matplotlib's named lines, by the shorter of the names that each has."""
