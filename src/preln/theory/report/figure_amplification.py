"""The step of the function in the first update, and the last layer's gradient before it, by depth."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from preln.config import LanguageSettings, RunSettings, Study
from preln.jobs.grid import series
from preln.libraries import mpl, pd
from preln.report.core.curves import EXTENT, Curves, means
from preln.report.core.entries import Figure, NothingDone
from preln.report.core.looks import Look
from preln.report.core.statistics import Estimate, estimate, exponent, extent, plus_minus
from preln.report.core.style import NOTE, TEXT_WIDTH, plain_ticks
from preln.theory.report.traces import SOURCE, Number, Records, first_step, gradient_at_first, looks_of, names
from preln.theory.trace_jobs import TraceJob

_FEWEST_DEPTHS = 3
_DEPTHS = {"encoder_layers", "decoder_layers", "layers"}

QUANTITIES: dict[str, tuple[str, Number]] = {
    "First step of the function": (r"$\Vert\Delta f\Vert$", first_step),
    "Last layer's gradient": ("norm, before the first update", gradient_at_first),
}
"""The quantities of the panels, by their titles: the unit, and the number of a trace."""


def of_depths(study: Study, jobs: Sequence[TraceJob]) -> Sequence[TraceJob]:
    """The traces of the models that have as many layers in the encoder as in the decoder, and of language models, where
    these are of three depths or more; else none."""
    even = [
        job
        for job in jobs
        if isinstance(job.settings, LanguageSettings) or job.settings.encoder_layers == job.settings.decoder_layers
    ]
    return even if len({job.settings.decoder_layers for job in even}) >= _FEWEST_DEPTHS else []


def values(records: Records, number: Number) -> pd.DataFrame:
    """A number of each trace: `curve`, the name of the models that differ in depth and seed alone; `placement`;
    `layers` of either stack; `seed`; and `value`."""
    settings, curves = {job.id: job.run.settings for job in records.jobs}, names(records.jobs, _DEPTHS)
    rows = []
    for name, trace in records.table.groupby("run", sort=False):
        if len(trace) > 1:
            run = settings[str(name)]
            rows.append((curves[str(name)], run.placement, run.decoder_layers, run.seed, number(trace, run)))
    return pd.DataFrame(rows, columns=["curve", "placement", "layers", "seed", "value"])


def slope(curve: pd.DataFrame, depths: Sequence[int]) -> Estimate:
    """The exponent of the depth in the values of a curve: the mean of those of the seeds that have all of `depths`."""
    return estimate(
        [
            exponent(seed["layers"].tolist(), seed["value"].tolist())
            for _, seed in curve.groupby("seed")
            if sorted(seed["layers"]) == list(depths)
        ]
    )


def compose(study: Study, records: Records) -> mpl.figure.Figure:
    """The figure of a study's records."""
    drawn = [(title, unit, values(records, number)) for title, (unit, number) in QUANTITIES.items()]
    if not len(drawn[0][-1]):
        raise NothingDone
    looks = _looks(study, records)
    depths = sorted({job.settings.decoder_layers for job in records.jobs})
    is_of_stacks = any(isinstance(job.settings, RunSettings) for job in records.jobs)
    xlabel = "Layers of the encoder, and of the decoder" if is_of_stacks else "Layers"
    figure = mpl.figure.Figure(figsize=(TEXT_WIDTH, 3.3), layout="constrained")
    for axes, (title, unit, points) in zip(figure.subplots(1, len(drawn)), drawn, strict=True):
        axes.set(title=title, xlabel=xlabel, ylabel=unit)
        _draw(axes, points, depths, looks)
    note = (
        "Points: means over seeds; bars: lowest to highest. In brackets: the exponent of the depth over the seeds that "
        "have every depth, with its 95% interval."
    )
    figure.supxlabel(textwrap.fill(f"{records.progress} {note}", width=160), **NOTE)
    return figure


def _draw(axes: mpl.axes.Axes, drawn: pd.DataFrame, depths: Sequence[int], looks: Mapping[str, Look]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for name, curve in drawn.groupby("curve", sort=False):
        points = means(curve, "layers", extent).sort_values("layers")
        bars: Any = [points["value"] - points["low"], points["high"] - points["value"]]
        axes.errorbar(
            points["layers"],
            points["value"],
            yerr=None if points["low"].isna().any() else bars,
            **looks[str(name)],
            capsize=2,
            label=f"{name} ({_text(slope(curve, depths))})",
        )
    axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.minorticks_off()
    low, high = axes.get_ylim()
    # A decade or two have one power of ten to mark, or none.
    if high < 100 * low:
        plain_ticks(axes.yaxis)
    # Below the axes, for no corner of them is free in both panels.
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.22))


def _looks(study: Study, records: Records) -> dict[str, Look]:
    """The look of each curve: that of its first run, as the study has them."""
    looks, curves = looks_of(study, records.jobs), names(records.jobs, _DEPTHS)
    return {curves[job.id]: looks[series(job.run.settings)] for job in reversed(records.jobs)}


def _text(power: Estimate) -> str:
    return plus_minus(power.mean, power.half, ".2f", ".2f") if power.n else "not known"


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers."""
    charts = []
    for title, (unit, number) in QUANTITIES.items():
        drawn = values(records, number)
        if len(drawn):
            unit = unit.replace(r"$\Vert\Delta f\Vert$", "‖Δf‖")
            table, looks = means(drawn, "layers", extent), _looks(study, records)
            logarithmic = frozenset("xy")
            charts.append(Curves(title, "layers", "Layers", unit, table, pd.DataFrame(), looks, logarithmic, EXTENT))
    return charts


FIGURE = Figure(
    name="amplification",
    title="The first update, by the depth of the model",
    caption="How far the first update moves the function that the model computes, and the gradient of the decoder's "
    "last layer before it, by the depth. The step of the function, ‖Δf‖, is how far the decoder's last states move on "
    "a batch of the validation text, as the root of the mean of the squared distance over d.\n\n"
    "Theorem 1: the gradient does not depend on the depth in Post-LN, and falls in Pre-LN. Liu et al. (2020): small "
    "random changes of the weights move Post-LN's output further, the deeper it is. At most, ‖Δf‖ is 2 behind a "
    "LayerNorm, and unrelated states are 1.4 apart.",
    source=SOURCE,
    of=of_depths,
    compose=compose,
    curves=curves,
)
