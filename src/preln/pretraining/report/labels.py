"""What figures call a pre-training run."""

from __future__ import annotations

from collections.abc import Sequence

from preln.placements import PLACEMENTS
from preln.pretraining.runs import PretrainingRun
from preln.report.core.labels import others, varying, warmup
from preln.values import short


def names(runs: Sequence[PretrainingRun]) -> dict[str, str]:
    """The name of each run: placement, rate and warm-up, and whatever else but the seed differs between the runs."""
    differing = varying(run.settings for run in runs) - {"text"}
    found = {}
    for run in runs:
        parts = [
            PLACEMENTS[run.settings.placement].label,
            f"lr {short(run.settings.learning_rate)}",
            warmup(run.settings),
        ]
        found[run.id] = ", ".join([*parts, *others(run.settings, differing)])
    return found


def names_with_seeds(runs: Sequence[PretrainingRun]) -> dict[str, str]:
    """The same, with the seed where there are several."""
    several = len({run.settings.seed for run in runs}) > 1
    return {
        run.id: f"{name}, seed {run.settings.seed}" if several else name
        for run, name in zip(runs, names(runs).values(), strict=True)
    }
