"""Every placement on one bench: the same model at several peak rates, with and without a warm-up; where it trains, and
how well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.jobs.base import Job
from preln.libraries import pd
from preln.report.core import failure_map_figure, forms
from preln.report.core.entries import Figure, Source, Table
from preln.report.core.failure_map import Cell, Map, MapSettings, in_a_map, maps
from preln.report.core.forms import MISSING, Content, rounded
from preln.report.core.records import having
from preln.report.core.statistics import LEARNED, mean
from preln.theory.measurement_jobs import ExactJob, GradientJob
from preln.theory.measurements import INITIAL
from preln.theory.report import records as theory_records
from preln.theory.report.tables import theory
from preln.translation.report import records
from preln.translation.report.failure_map import endings
from preln.translation.runs import Run
from preln.values import short

_FEWEST_PLACEMENTS = 3
_BEST = ["model", "placement", "warmup", "best_rate", "best_valid_loss", "lowest", "highest", "seeds"]
_RATES = ["lowest_rate", "highest_rate", "rates", "training", "sensitivity", "constant_guess", "runs", "failed"]
_THEORY = ["depth_exponent", "state_growth"]
_COMPUTED = ["best_valid_loss", "sensitivity", "constant_guess", "depth_exponent", "state_growth"]


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
    return mean(having(theory, id="last-depth-exponent", placement=placement, of="translation")["measured"].tolist())


def state_growth(measured: pd.DataFrame, placement: str) -> float:
    """E||x||^2 / d of the residual sum behind the last decoder layer over that behind the first, of the translation
    model at initialisation and the smallest depth; NaN where it was not measured."""
    sums = having(measured, model="translation", state=INITIAL, variant="", stack="decoder", quantity="square_norm")
    norms = having(sums, placement=placement)
    by_seed = having(norms, depth=norms["depth"].min()).sort_values("layer").groupby("seed")["value"]
    return mean((by_seed.last() / by_seed.first()).tolist())


def _jobs(study: Study) -> list[Job]:
    return [*records.SOURCE.jobs(study), *theory_records.SOURCE.jobs(study)]


def _load(study: Study, jobs: Sequence[Job], results: Path) -> Records:
    runs = [job for job in jobs if isinstance(job, Run)]
    parts = [job for job in jobs if isinstance(job, ExactJob | GradientJob)]
    return Records(records.load(study, runs, results), theory_records.load(study, parts, results))


SOURCE = Source(_jobs, _load)


def make(study: Study, records: Records) -> Content:
    """The table of the runs that are done: a row for each model and warm-up. For readers, a row for each model, with
    its shortest warm-up and its longest."""
    of_theory = theory(records.theory)
    title = f"Study {study.study}: {len(records.runs.summary)} of {len(records.runs.runs)} runs."
    full = pd.DataFrame(
        [_row(line, records, of_theory) for line in lines(records)], columns=[*_BEST, *_RATES, *_THEORY]
    )
    if full.empty:
        return Content(full, full, title, [])
    text = pd.DataFrame([_text(rows.to_dict("records")) for _, rows in full.groupby("model", sort=False)])
    note = _NOTE.replace("LENGTHS", f"{full['warmup'].min()} and {full['warmup'].max()} updates")
    return Content(full, text, title, [note])


def _row(line: Line, records: Records, of_theory: pd.DataFrame) -> dict[str, Any]:
    cells = line.cells.values()
    training = list(line.model.training(line.warmup))
    best = line.model.best(line.warmup)
    settings = line.model.settings
    # The theory measures the placements without the options.
    plain = is_plain(settings)
    return {
        "model": line.model.name,
        "placement": settings.placement,
        "warmup": line.warmup,
        "best_rate": best[0] if best else math.nan,
        "best_valid_loss": best[1].loss if best else math.nan,
        "lowest": min(best[1].ended) if best else math.nan,
        "highest": max(best[1].ended) if best else math.nan,
        "seeds": best[1].seeds if best else max(cell.seeds for cell in cells),
        "lowest_rate": training[0] if training else math.nan,
        "highest_rate": training[-1] if training else math.nan,
        "rates": len(cells),
        "training": len(training),
        "sensitivity": line.sensitivity,
        "constant_guess": line.guess,
        "runs": sum(cell.seeds for cell in cells),
        "failed": sum(cell.failed for cell in cells),
        "depth_exponent": depth_exponent(of_theory, settings.placement) if plain else math.nan,
        "state_growth": state_growth(records.theory.table, settings.placement) if plain else math.nan,
    }


def _text(rows: Sequence[Any]) -> dict[str, str]:
    """The rows of a model for readers, its shortest warm-up and its longest side by side."""
    first, ends = rows[0], [rows[0], rows[-1]][: len(rows)]
    pair = " / ".join
    return {
        "Model": str(first["model"]),
        "Loss at the best rate": pair([_loss(row) for row in ends]),
        "Best rate": pair([forms.rate(row["best_rate"]) for row in ends]),
        "Trains at": pair([_range(row) for row in ends]),
        "Rates": pair([f"{row['training']} of {row['rates']}" for row in ends]),
        "Sensitivity": pair([rounded(row["sensitivity"], 2) for row in ends]),
        "Gradient by depth": rounded(first["depth_exponent"], 2),
        "Hidden states": rounded(first["state_growth"], 1),
        "Seeds": pair([str(row["seeds"]) for row in ends]),
    }


def _loss(row: Any) -> str:
    if math.isnan(row["best_valid_loss"]):
        return MISSING
    spread = f" ({row['lowest']:.2f} to {row['highest']:.2f})" if row["lowest"] < row["highest"] else ""
    return f"{row['best_valid_loss']:.2f}{spread}"


def _range(row: Any) -> str:
    if math.isnan(row["lowest_rate"]):
        return "none"
    if row["lowest_rate"] == row["highest_rate"]:
        return f"{short(row['lowest_rate'])} alone"
    return f"{short(row['lowest_rate'])} to {short(row['highest_rate'])}"


_NOTE = (
    "A cell with a slash has the shortest and the longest warm-up: LENGTHS. Losses are of the validation text, in bits "
    "a token: means over the seeds that did not diverge, with the lowest and the highest. A run fails if it diverges, "
    f"or ends less than {LEARNED} bits a token below the unigram baseline. A rate trains if at most a third of its "
    "seeds fail. The sensitivity is E[min(loss, guess) - best loss] over a rate that is uniform in its logarithm "
    "between the lowest and the highest of the grid (Wortsman et al., 2023). The unigram baseline stands for the loss "
    "of a model that has learned nothing. The gradient by depth is the exponent of the depth in the last gradient. "
    "The hidden states are E‖x‖^2 / d behind the last decoder layer over that behind the first. Both are at "
    "initialisation."
)

TABLE = Table(
    name="placements",
    title="The placements on one bench",
    caption="For each placement and option: the loss at its best rate, the rates at which it trains, its learning-rate "
    "sensitivity, and what the theory measures of it at initialisation.",
    source=SOURCE,
    of=on_a_bench,
    make=make,
    computed=_COMPUTED,
)
FIGURE = Figure(
    name="placements",
    title="The placements on one bench",
    caption=failure_map_figure.RATES_CAPTION,
    source=SOURCE,
    of=on_a_bench,
    compose=lambda study, bench: failure_map_figure.compose_rates(study, endings(bench.runs)),
)
