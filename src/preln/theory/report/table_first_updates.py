"""The first updates of each traced run, in the numbers that the explanations of a failure are about."""

from __future__ import annotations

import math
from typing import Any

from preln.config import Study
from preln.libraries import pd
from preln.report.core.forms import MISSING, Content
from preln.report.core.statistics import estimate, plus_minus
from preln.report.core.table import Table
from preln.theory.report.traces import FIRST, SOURCE, Number, Records, gradient_at_first, largest_step

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
        traces = [trace for _, trace in records.table[records.table["curve"] == name].groupby("seed")]
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


FIRST_UPDATES = Table(
    name="first-updates",
    title="The first updates in numbers",
    caption="What the first updates of each traced run do to the function that the model computes, beside the "
    "gradients at initialisation, which the paper explains failures by.",
    source=SOURCE,
    make=make,
    computed=("mean", "low", "high"),
)
