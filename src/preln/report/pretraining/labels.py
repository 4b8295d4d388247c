"""What figures call a pre-training run."""

from __future__ import annotations

from collections.abc import Sequence

from preln.config import PretrainingSettings
from preln.pretraining.runs import PretrainingRun
from preln.report.core.labels import PLACEMENTS
from preln.values import short

_TOLD = {"text", "placement", "learning_rate", "warmup", "seed"}


def names(runs: Sequence[PretrainingRun]) -> dict[str, str]:
    """The name of each run: placement, rate and warm-up, and whatever else but the seed differs between the runs."""
    fields = [key for key in PretrainingSettings.model_fields if key not in _TOLD]
    differing = [key for key in fields if len({getattr(run.settings, key) for run in runs}) > 1]
    found = {}
    for run in runs:
        warmup = f"warm-up {run.settings.warmup}" if run.settings.warmup > 1 else "no warm-up"
        parts = [PLACEMENTS[run.settings.placement], f"lr {short(run.settings.learning_rate)}", warmup]
        parts += [f"{key.replace('_', ' ')} {short(getattr(run.settings, key))}" for key in differing]
        found[run.id] = ", ".join(parts)
    return found


def names_with_seeds(runs: Sequence[PretrainingRun]) -> dict[str, str]:
    """The same, with the seed where there are several."""
    several = len({run.settings.seed for run in runs}) > 1
    return {
        run.id: f"{name}, seed {run.settings.seed}" if several else name
        for run, name in zip(runs, names(runs).values(), strict=True)
    }
