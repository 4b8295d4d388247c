"""What becomes of a placement with the depth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.bench import models
from docs.bench.models import is_ahead, models_of, name_of
from docs.committed import by_settings, translations
from docs.markdown import grid, losses, rate, warm_up
from preln.translation.report.failure_map import fails

FEWEST, *DEEPER = DEPTHS = (6, 12, 18)
"""The layers of a stack: those of the bench, and more."""
SEEDS = 2


def answer(shallow: Sequence[float], deeper: Sequence[Sequence[float]], guess: float) -> list[str]:
    """What becomes of a placement with the depth. Nothing is said before each depth has both seeds.

    Args:
        shallow: the losses with the fewest layers.
        deeper: those with more, the most at the end.
        guess: that of the constant guess.
    """
    if not all(len(losses) == SEEDS for losses in (shallow, *deeper)):
        return []
    if any(fails(loss, guess) for losses in deeper for loss in losses):
        return ["fails"]
    if is_ahead(deeper[-1], shallow):
        return ["gains"]
    return ["loses" if is_ahead(shallow, deeper[-1]) else "keeps"]


def read(results: Path) -> dict[str, dict[int, list[float]]]:
    """The losses of the seeds that are done, by the names of the models on the bench and the layers of a stack."""
    ends = by_settings(translations(results, "placements-depth"), lambda its: (name_of(its), its.encoder_layers))
    found: dict[str, dict[int, list[float]]] = {}
    for (name, layers), its in ends.items():
        found.setdefault(name, {})[layers] = its.losses
    return found


def answers(results: Path) -> dict[str, list[str]]:
    """What becomes of each model of the bench with the depth, by its name; nothing where a seed is not done."""
    found, bench = read(results), models.read(results)
    return {
        name: answer(its.get(FEWEST, ()), [its.get(layers, ()) for layers in DEEPER], bench[name].guess)
        for name, its in found.items()
        if name in bench
    }


def table(results: Path) -> str:
    """Each placement at its depths, and what becomes of it where all seeds are done. An option has one depth, and no
    answer."""
    found, said = read(results), answers(results)
    rows = []
    for name, settings in models_of("placements-depth").items():
        its = found.get(name, {})
        of_each_depth = (losses(its.get(layers, ())) for layers in DEPTHS)
        rate_and_warm_up = rate(settings.learning_rate), warm_up(settings.warmup)
        rows.append((name, *rate_and_warm_up, *of_each_depth, "; ".join(said.get(name, ()))))
    return grid(["", "rate", "warm-up", *(f"{layers}-{layers}" for layers in DEPTHS), "the answer"], rows)
