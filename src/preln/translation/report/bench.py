"""Every placement on one bench: the same model at several peak rates, with and without a warm-up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from preln.config import Study
from preln.jobs.base import Job
from preln.libraries import pd
from preln.report.core import rates_figure
from preln.report.core.entries import Source
from preln.report.core.failure_map import Cell, Map, MapSettings, in_a_map, maps
from preln.report.core.figure import Figure
from preln.report.core.statistics import mean
from preln.theory.measurement_jobs import ExactJob, GradientJob
from preln.theory.measurements import INITIAL
from preln.theory.report import records as theory_records
from preln.translation.report import records
from preln.translation.report.failure_map import endings
from preln.translation.runs import Run

_FEWEST_PLACEMENTS = 3


@dataclass(frozen=True)
class Records:
    """The records of the runs of a bench, and those of the study's theory, which may have none."""

    runs: records.Records
    theory: theory_records.Records


@dataclass(frozen=True)
class Line:
    """A model of a bench, by its map, with one length of warm-up in updates, over the peak rates."""

    model: Map
    warmup: int

    @property
    def cells(self) -> dict[float, Cell]:
        """Its cells, by their rates, ascending."""
        return self.model.at(self.warmup)

    @property
    def guess(self) -> float:
        """The loss of the unigram baseline."""
        return next(iter(self.cells.values())).guess

    @property
    def bounded(self) -> dict[float, float]:
        """By rate, the mean of the seeds' last losses, where none counts as worse than the unigram baseline. A rate of
        which no run is done is left out."""
        return {rate: mean([min(loss, cell.guess) for loss in cell.losses]) for rate, cell in self.cells.items()}

    @property
    def sensitivity(self) -> float:
        """The learning-rate sensitivity in bits a token, with the unigram baseline as l_0; NaN while a rate is
        missing."""
        if len(self.bounded) < len(self.model.rates):
            return math.nan
        return sensitivity(self.bounded, self.guess)


def sensitivity(losses: Mapping[float, float], start: float) -> float:
    """The learning-rate sensitivity E[min(l(eta), l_0) - l*] of Wortsman et al. (2023, "Small-scale proxies for
    large-scale Transformer training instabilities"), in the unit of the losses.

    l* is the best loss, and no rate counts as worse than l_0, the loss of a model that has learned nothing. The
    expectation is over a rate from the lowest to the highest that is uniform in its logarithm; between two neighbouring
    rates, min(l, l_0) is linear in it. On evenly spaced rates, the two at the ends thus weigh half as much as the
    others.

    Args:
        losses: the last loss l by peak rate eta, of two rates or more, in any order; infinite where a model diverged.
        start: l_0.
    """
    points = sorted((math.log(rate), min(loss, start)) for rate, loss in losses.items())
    best = min(loss for _, loss in points)
    area = math.fsum((right - left) * (low + high - 2 * best) / 2 for (left, low), (right, high) in pairwise(points))
    return area / (points[-1][0] - points[0][0])


def on_a_bench(study: Study, jobs: Sequence[Job]) -> Sequence[Job]:
    """The runs of a bench and the measurements beside them: three placements or more, each at three rates or more with
    two lengths of warm-up or more. Nothing of a study without one."""
    runs = in_a_map(study, [job for job in jobs if isinstance(job, Run)])
    if len({run.settings.placement for run in runs}) < _FEWEST_PLACEMENTS:
        return []
    return [*runs, *(job for job in jobs if not isinstance(job, Run))]


def lines(bench: Records) -> list[Line]:
    """The lines of a bench of which something is done: by model, in the order of the runs, and by warm-up. It raises
    what `endings` does."""
    return [Line(model, warmup) for model in maps(endings(bench.runs)) for warmup in model.warmups if model.at(warmup)]


def is_plain(settings: MapSettings) -> bool:
    """True of a model without the options, as the theory measures its placement."""
    return settings.norm == "layer" and not settings.qk_norm


def depth_exponent(theory: pd.DataFrame, placement: str) -> float:
    """The exponent of the depth in the gradient of the last decoder layer's W^2 at initialisation, of the translation
    model; NaN where the table of the theory has none."""
    rows = theory[(theory["id"] == "last-depth-exponent") & (theory["placement"] == placement)]
    rows = rows[rows["of"] == "translation"]
    return mean(rows["measured"].tolist())


def state_growth(measured: pd.DataFrame, placement: str) -> float:
    """E||x||^2 / d of the residual sum behind the last decoder layer over that behind the first, of the translation
    model at initialisation and the smallest depth; NaN where it was not measured."""
    model = {"model": "translation", "state": INITIAL, "variant": "", "placement": placement}
    wanted = pd.Series({**model, "stack": "decoder", "quantity": "square_norm"})
    norms = measured[(measured[wanted.index] == wanted).all(axis="columns")]
    by_seed = norms[norms["depth"] == norms["depth"].min()].sort_values("layer").groupby("seed")["value"]
    return mean((by_seed.last() / by_seed.first()).tolist())


def _jobs(study: Study) -> list[Job]:
    return [*records.SOURCE.jobs(study), *theory_records.SOURCE.jobs(study)]


def _load(study: Study, jobs: Sequence[Job], results: Path) -> Records:
    runs = [job for job in jobs if isinstance(job, Run)]
    parts = [job for job in jobs if isinstance(job, ExactJob | GradientJob)]
    return Records(records.load(study, runs, results), theory_records.load(study, parts, results))


SOURCE = Source(_jobs, _load)

FIGURE = Figure(
    name="placements",
    title="The placements on one bench",
    caption=rates_figure.CAPTION,
    source=SOURCE,
    of=on_a_bench,
    compose=lambda study, bench: rates_figure.compose(study, endings(bench.runs)),
)
