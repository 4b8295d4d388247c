"""Maps of failure and benches of placements, made up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.translation.runs import Run
from tests.made_up.translation import records_of, small_study

GUESS = 8.0
LEARNED, STUCK = 5.0, 7.9
RATES, WARMUPS = [1e-4, 1e-3, 1e-2], [0, 50]
NAMES = ["post", "pre", "peri"]
GRID: dict[str, Any] = {
    **{"placement": NAMES, "optimizer": "adam", "schedule": "constant"},
    **{"learning_rate": RATES, "warmup": WARMUPS},
}
Loss = Callable[[Run], float | None]


def recorded(study: Study, run: Run, results: Path, loss: float | None) -> None:
    """A run that ended with a loss, or diverged."""
    losses = [] if loss is None else [9.0, loss]
    diverged = {"update": 7, "epoch": 1} if loss is None else None
    records_of(study, run, results, losses, diverged=diverged, constant_guess=GUESS)


def bench(
    results: Path, loss: Loss, *entries: dict[str, Any], done: Callable[[Run], bool] = lambda run: True, **changes: Any
) -> tuple[Study, list[Run]]:
    """A study of a bench, whose runs ended with their losses, or diverged where there is none."""
    study, runs = small_study(*(entries or (GRID,)), **changes)
    for run in filter(done, runs):
        recorded(study, run, results, loss(run))
    return study, runs
