"""The first updates of each traced run: the function's update beside the gradients, the inputs of LayerNorm, the
cosine of the decoder's states and the sharpness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from preln.config import Study
from preln.jobs.grid import series
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, TrainedRun, curves_of, shared
from preln.report.core.figure import Figure
from preln.report.core.labels import names
from preln.theory.report.traces import SOURCE, Records, looks_of, of_layer
from preln.theory.trace_jobs import TracedSettings

_COLUMNS = 3


@dataclass(frozen=True)
class Quantity:
    """The quantity of a panel: its title and unit, its column in a run's trace, and whether its axis is logarithmic.
    Panels with the same `scale` share an axis."""

    title: str
    unit: str
    column: Callable[[TracedSettings], str]
    log: bool
    scale: str = ""


QUANTITIES = (
    Quantity("Loss", "bits a token", lambda run: "loss", log=False),
    Quantity("Update of the function", r"$\Vert\Delta f\Vert$", lambda run: "function_change", log=True),
    Quantity("Gradient, last layer", "norm", lambda run: of_layer("gradient_norm", run, last=True), True, "gradient"),
    Quantity("Gradient, first layer", "norm", lambda run: of_layer("gradient_norm", run, last=False), True, "gradient"),
    Quantity(
        "Input of the last LayerNorm",
        r"$\Vert x\Vert/\sqrt{d}$",
        lambda run: of_layer("input_norm", run, last=True),
        log=True,
    ),
    Quantity("Cosine of decoder states", "mean", lambda run: "cosine", log=False),
    Quantity("Sharpness", "largest eigenvalue", lambda run: "sharpness", log=True),
)


def panels(study: Study, records: Records) -> list[list[Panel]]:
    """A panel for each quantity that some run has at two updates or more. The two of gradients are compared, so they
    have one scale."""
    traced = {str(name): table for name, table in records.table.groupby("run")}
    settings = [series(job.run.settings) for job in records.jobs]
    called, _ = names(settings, always={"placement"})
    looks = looks_of(study, records.jobs)
    drawn = []
    for quantity in QUANTITIES:
        runs = []
        for job in records.jobs:
            column = quantity.column(job.run.settings)
            trace = traced.get(job.id)
            if trace is not None and column in trace:
                points = trace[["update", column]].set_axis(["updates", quantity.title], axis=1)
                runs.append(TrainedRun(job.run.settings, points, None))
        curves = curves_of(runs, quantity.title, called, looks)
        if any(len(curve.points) > 1 for curve in curves):
            # The largest eigenvalue may be negative, and at rate 0 no function changes; a logarithm is of neither.
            log = quantity.log and all((curve.points["value"] > 0).all() for curve in curves)
            drawn.append(
                Panel(quantity.title, quantity.unit, curves, log=frozenset({"y"} if log else ()), scale=quantity.scale)
            )
    return [drawn[start : start + _COLUMNS] for start in range(0, len(drawn), _COLUMNS)]


def note(records: Records) -> str:
    """The note below the figure: how many runs are traced, and what most of them share."""
    _, common = names([series(job.run.settings) for job in records.jobs], always={"placement"})
    return f"{records.progress} {shared(common)}"


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
    compose=lambda study, records: curve_figure.compose(panels(study, records), note(records)),
    curves=lambda study, records: curve_figure.curves(panels(study, records)),
)
