"""Every placement of a bench in numbers: where it trains, and how well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from preln.config import Study
from preln.libraries import pd
from preln.report.core import forms
from preln.report.core.failure_map import MARGIN
from preln.report.core.forms import MISSING, Content, rounded
from preln.report.core.table import Table
from preln.theory.report.tables import theory
from preln.translation.report.bench import (
    SOURCE,
    Line,
    Records,
    depth_exponent,
    is_plain,
    lines,
    on_a_bench,
    state_growth,
)
from preln.values import short

_BEST = ["model", "placement", "warmup", "best_rate", "best_valid_loss", "lowest", "highest", "seeds"]
_RATES = ["lowest_rate", "highest_rate", "rates", "training", "sensitivity", "constant_guess", "runs", "failed"]
_THEORY = ["depth_exponent", "state_growth"]
_COMPUTED = ["best_valid_loss", "sensitivity", "constant_guess", "depth_exponent", "state_growth"]


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
    f"or ends less than {MARGIN} bits a token below the unigram baseline. A rate trains if at most a third of its "
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
