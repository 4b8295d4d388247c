"""The first updates of each traced run: the function's update beside the gradients, the inputs of LayerNorm, the
cosine of the decoder's states and the sharpness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preln.config import RunSettings, Study
from preln.libraries import pd
from preln.report.core.curves import EXTENT, Curves, means
from preln.report.core.figure import Figure, NothingDone
from preln.report.core.statistics import extent
from preln.report.core.style import NOTE, PLACEMENT_COLOURS, TEXT_WIDTH, legend_below
from preln.theory.report.traces import SOURCE, Records, of_layer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_COLUMNS = 4
_PANEL_HEIGHT = 1.6  # inches
_LEGEND_LINE = 0.15  # inches
_LINES: list[Any] = ["-", (0, (3.5, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2))]
_MARKERS = "osD^vP"


@dataclass(frozen=True)
class Quantity:
    """What a panel shows.

    Attributes:
        title: of the panel.
        unit: of the axis.
        column: the column of a run's trace.
        log: whether the axis is logarithmic.
    """

    title: str
    unit: str
    column: Callable[[RunSettings], str]
    log: bool


QUANTITIES = (
    Quantity("Loss", "bits a token", lambda run: "loss", log=False),
    Quantity("Update of the function", r"$\Vert\Delta f\Vert$", lambda run: "function_change", log=True),
    Quantity("Gradient, last layer", "norm", lambda run: of_layer("gradient_norm", run, last=True), log=True),
    Quantity("Gradient, first layer", "norm", lambda run: of_layer("gradient_norm", run, last=False), log=True),
    Quantity(
        "Input of the last LayerNorm",
        r"$\Vert x\Vert/\sqrt{d}$",
        lambda run: of_layer("input_norm", run, last=True),
        log=True,
    ),
    Quantity("Cosine of decoder states", "mean", lambda run: "cosine", log=False),
    Quantity("Sharpness", "largest eigenvalue", lambda run: "sharpness", log=True),
)


def compose(study: Study, records: Records) -> Drawing:
    """The figure of a study's records."""
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

    looks = _looks(records)
    shown = [(quantity, found) for quantity in QUANTITIES if len(found := values(records, quantity))]
    if not shown:
        raise NothingDone
    rows = -(-len(shown) // _COLUMNS)
    legend_height = _LEGEND_LINE * (-(-len(looks) // 2) + 1)
    figure = Drawing(figsize=(TEXT_WIDTH, _PANEL_HEIGHT * rows + legend_height), layout="constrained")
    heights = [*([_PANEL_HEIGHT] * rows), legend_height]
    space = figure.add_gridspec(rows + 1, _COLUMNS, height_ratios=heights)
    gradients: Axes | None = None
    for number, (quantity, found) in enumerate(shown):
        # The two panels of gradients are compared, so they have one scale.
        shared = gradients if quantity.title.startswith("Gradient") else None
        axes = figure.add_subplot(space[number // _COLUMNS, number % _COLUMNS], sharey=shared)
        if quantity.title.startswith("Gradient"):
            gradients = axes
        _draw(axes, quantity, found, looks)
        if number + _COLUMNS >= len(shown):
            axes.set_xlabel("Update")
    counts = records.table.groupby("curve")["seed"].nunique()
    handles = [Line2D([], [], **look, label=f"{name}, n\xa0=\xa0{counts[name]}") for name, look in looks.items()]
    legend_below(figure, space[-1, :], handles, loc="upper center", ncols=2, borderaxespad=0, handlelength=2.8)
    note = "Lines: means over the n seeds; bands: lowest to highest." if counts.max() > 1 else ""
    figure.supxlabel(f"{records.progress} {note}".strip(), **NOTE)
    return figure


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers."""
    found = []
    for quantity in QUANTITIES:
        table = values(records, quantity)
        if len(table):
            axis = quantity.unit.replace(r"$\Vert\Delta f\Vert$", "‖Δf‖").replace(r"$\Vert x\Vert/\sqrt{d}$", "‖x‖/√d")
            found.append(Curves(quantity.title, "update", "Update", axis, table, pd.DataFrame(), EXTENT))
    return found


def values(records: Records, quantity: Quantity) -> pd.DataFrame:
    """The mean of a quantity over the seeds of each curve at each update where it is known, and the lowest and the
    highest of them: `curve`, `update`, `value`, `low`, `high` and `seeds`."""
    rows = []
    for name, run in records.curves.items():
        column = quantity.column(run)
        mine = records.table[records.table["curve"] == name]
        if column in mine:
            rows.append(mine[["curve", "update"]].assign(value=mine[column]).dropna())
    return means(pd.concat(rows), "update", extent) if rows else pd.DataFrame()


def _draw(axes: Axes, quantity: Quantity, found: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> None:
    """The curves of a panel."""
    from matplotlib.ticker import LogFormatter, MaxNLocator

    axes.set_title(quantity.title)
    axes.set_ylabel(quantity.unit)
    # The largest eigenvalue may be negative, and at rate 0 no function changes; a logarithm is of neither.
    if quantity.log and (found["value"] > 0).all():
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.2, 0.5)))
    for name, mine in found.groupby("curve", sort=False):
        look = looks[str(name)]
        axes.plot(mine["update"], mine["value"], **look)
        axes.fill_between(mine["update"], mine["low"], mine["high"], color=look["color"], alpha=0.2, linewidth=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.set_xlim(left=0)


def _looks(records: Records) -> dict[str, dict[str, Any]]:
    """The look of each curve: the colour tells the placement, the line the warm-up, and a marker the rest."""
    warmups = sorted({job.run.settings.warmup for job in records.jobs})
    looks: dict[str, dict[str, Any]] = {}
    for name, run in records.curves.items():
        line = _LINES[warmups.index(run.warmup) % len(_LINES)]
        look = {"color": PLACEMENT_COLOURS[run.placement], "linestyle": line, "linewidth": 1.0}
        alike = sum(other.items() >= look.items() for other in looks.values())
        marker = {"marker": _MARKERS[(alike - 1) % len(_MARKERS)], "markersize": 3, "markevery": 0.15}
        looks[name] = {**look, **(marker if alike else {})}
    return looks


FIGURE = Figure(
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
    compose=compose,
    curves=curves,
)
