"""The first updates of each traced run, one by one and in numbers: the function's update beside the gradients, the
inputs of LayerNorm, the cosine of the decoder's states and the sharpness."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from preln.config import Study
from preln.jobs.grid import series
from preln.libraries import pd
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, TrainedRun, curves_of, shared
from preln.report.core.entries import Table
from preln.report.core.forms import MISSING, Content
from preln.report.core.labels import names
from preln.report.core.records import having
from preln.report.core.statistics import estimate, plus_minus
from preln.theory.report.traces import (
    FIRST,
    SOURCE,
    Number,
    Records,
    gradient_at_first,
    largest_step,
    looks_of,
    of_layer,
)
from preln.theory.trace_jobs import TracedSettings

_COLUMNS = 3


_LOG = frozenset({"y"})
PANELS: tuple[tuple[Panel, Callable[[TracedSettings], str]], ...] = (
    (Panel("Loss", "bits a token", ()), lambda run: "loss"),
    (Panel("Update of the function", r"$\Vert\Delta f\Vert$", (), log=_LOG), lambda run: "function_change"),
    (
        Panel("Gradient, last layer", "norm", (), log=_LOG, scale="gradient"),
        lambda run: of_layer("gradient_norm", run, last=True),
    ),
    (
        Panel("Gradient, first layer", "norm", (), log=_LOG, scale="gradient"),
        lambda run: of_layer("gradient_norm", run, last=False),
    ),
    (
        Panel("Input of the last LayerNorm", r"$\Vert x\Vert/\sqrt{d}$", (), log=_LOG),
        lambda run: of_layer("input_norm", run, last=True),
    ),
    (Panel("Cosine of decoder states", "mean", ()), lambda run: "cosine"),
    (Panel("Sharpness", "largest eigenvalue", (), log=_LOG), lambda run: "sharpness"),
)
"""The panels without their curves, and the column of each in a run's trace."""


def _drawn(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    """A panel for each quantity that some run has at two updates or more. The two of gradients are compared, so they
    have one scale. The note has how many runs are traced, and what most of them share."""
    traced = {str(name): table for name, table in records.table.groupby("run")}
    settings = [series(job.run.settings) for job in records.jobs]
    called, common = names(settings, always={"placement"})
    looks = looks_of(study, records.jobs)
    drawn = []
    for panel, column_of in PANELS:
        runs = []
        for job in records.jobs:
            column = column_of(job.run.settings)
            trace = traced.get(job.id)
            if trace is not None and column in trace:
                points = trace[["update", column]].set_axis(["updates", panel.title], axis=1)
                runs.append(TrainedRun(job.run.settings, points, None))
        curves = curves_of(runs, panel.title, called, looks)
        if any(len(curve.points) > 1 for curve in curves):
            values = pd.concat([curve.points["value"] for curve in curves])
            # A loss that explodes would flatten all others.
            log = _LOG if panel.title == "Loss" and values.max() > 4 * values.min() else panel.log
            # The largest eigenvalue may be negative, and at rate 0 no function changes; a logarithm is of neither.
            drawn.append(replace(panel, curves=curves, log=log if (values > 0).all() else frozenset()))
    grid = [drawn[start : start + _COLUMNS] for start in range(0, len(drawn), _COLUMNS)]
    return grid, f"{records.progress} {shared(common)}"


FIGURE = curve_figure.figure(
    _drawn,
    name="first-updates",
    title="The first updates, one by one",
    caption="What each of the first updates does to the model. The loss, the update of the function and the cosine "
    "are of one batch of the validation text, without dropout. The update of the function is how far the decoder's "
    "last states move in one update, as the root of the mean of the squared distance over d. The cosine is that of the "
    "angle between the last states of two words: where it is 1, the model gives every word the same. The sharpness is "
    "the largest eigenvalue of the Hessian. Gradients are of each update's own mini-batch, and of all weights of the "
    "decoder's last or first layer. The input of the last LayerNorm is the sum behind the decoder's last layer.\n\n"
    "The paper says that large gradients in the last layers make Post-LN fail without a warm-up. Wang et al. (2022) "
    "say that the size of the function's first updates does.",
    source=SOURCE,
)


NUMBERS: dict[str, tuple[str, Number]] = {
    "largest_change": (f"Largest ‖Δf‖ of {FIRST} updates", largest_step),
    "distance": (
        f"Distance after {FIRST}",
        lambda trace, run: float(trace["function_distance"].iloc[: FIRST + 1].iloc[-1]),
    ),
    "loss": ("Loss at the end", lambda trace, run: float(trace["loss"].iloc[-1])),
    "cosine": ("Cosine at the end", lambda trace, run: float(trace["cosine"].iloc[-1])),
    "last_gradient": ("Last gradient at first", gradient_at_first),
    "gradient_ratio": (
        "Last over first",
        lambda trace, run: gradient_at_first(trace, run) / gradient_at_first(trace, run, last=False),
    ),
    "sharpness": ("Sharpness at first", lambda trace, run: float(trace["sharpness"].iloc[0])),
    "largest_sharpness": ("Largest sharpness", lambda trace, run: float(trace["sharpness"].max())),
}
"""The numbers of a trace, with their headings."""


def numbers(records: Records) -> pd.DataFrame:
    """The numbers of each curve: `runs`, `quantity`, `mean` over the seeds, `low` and `high` of its 95% interval, and
    `seeds`. An update that is not made has no number."""
    rows = []
    for name, run in records.curves.items():
        traces = [trace for _, trace in having(records.table, curve=name).groupby("seed")]
        for quantity, (_, number) in NUMBERS.items():
            values = [number(trace, run) for trace in traces if len(trace) > 1]
            known = estimate([value for value in values if math.isfinite(value)])
            rows.append((name, quantity, known.mean, known.low, known.high, known.n))
    return pd.DataFrame(rows, columns=["runs", "quantity", "mean", "low", "high", "seeds"])


def make(study: Study, records: Records) -> Content:
    """The table of the runs that are traced."""
    full = numbers(records)
    rows = []
    for name, curve in full.groupby("runs", sort=False):
        by_quantity = curve.set_index("quantity").to_dict("index")
        cells = {heading: _text(by_quantity[quantity]) for quantity, (heading, _) in NUMBERS.items()}
        rows.append({"Runs": name, **cells, "Seeds": str(curve["seeds"].max())})
    note = (
        "Means over seeds, ± half of the 95% interval. ‖Δf‖ is how far the decoder's last states move in one update. "
        "The distance is how far they are from those at initialisation. Both are the root of the mean of the squared "
        "distance over d. The loss is in bits a token, label-smoothed in translation. Gradients are of all weights of "
        "the decoder's last and first layer, before the first update. A loss that is not finite is left out."
    )
    text = pd.DataFrame(rows)
    columns = ["Runs", NUMBERS["largest_change"][0], NUMBERS["loss"][0], NUMBERS["last_gradient"][0]]
    brief = text[columns] if len(text) else text
    return Content(full, text, records.progress, [note, *records.origin], brief)


def _text(row: Any) -> str:
    return MISSING if math.isnan(row["mean"]) else plus_minus(row["mean"], row["high"] - row["mean"])


TABLE = Table(
    name="first-updates",
    title="The first updates in numbers",
    caption="What the first updates of each traced run do to the function that the model computes, beside the "
    "gradients at initialisation, which the paper explains failures by.",
    source=SOURCE,
    make=make,
    computed=("mean", "low", "high"),
)
