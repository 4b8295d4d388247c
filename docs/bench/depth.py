"""What becomes of a placement with the depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from docs.bench import models
from docs.bench.models import is_ahead, models_of, name_of
from docs.committed import by_settings, translations
from docs.markdown import grid, losses, rate, warm_up
from preln.report.translation.failure_map import fails

FEWEST, *DEEPER = DEPTHS = (6, 12, 18)
"""The layers of a stack: those of the bench, and more."""
SEEDS = 2

ByDepth = Mapping[int, Sequence[float]]
"""The losses of the seeds of a placement, by the layers of a stack."""


def answer(its: ByDepth, guess: float) -> list[str]:
    """What becomes of a placement with the depth. Nothing is said before each depth has both seeds.

    Args:
        its: the losses of the placement.
        guess: that of the constant guess.
    """
    if not all(len(its.get(layers, ())) == SEEDS for layers in DEPTHS):
        return []
    if any(fails(loss, guess) for layers in DEEPER for loss in its[layers]):
        return ["fails"]
    if is_ahead(its[DEEPER[-1]], its[FEWEST]):
        return ["gains"]
    return ["loses" if is_ahead(its[FEWEST], its[DEEPER[-1]]) else "keeps"]


def read(results: Path) -> dict[str, dict[int, list[float]]]:
    """The losses of the seeds that are done, by the names of the models on the bench and the layers of a stack."""
    ends = by_settings(translations(results, "placements-depth"), lambda its: (name_of(its), its.encoder_layers))
    found: dict[str, dict[int, list[float]]] = {}
    for (name, layers), its in ends.items():
        found.setdefault(name, {})[layers] = its.losses
    return found


def table(results: Path) -> str:
    """Each placement at its depths, and what becomes of it where all seeds are done. An option has one depth, and no
    answer."""
    bench, found = models.read(results), read(results)
    rows = []
    for name, settings in models_of("placements-depth").items():
        its = found.get(name, {})
        said = answer(its, bench[name].guess) if name in bench else []
        of_each_depth = (losses(its.get(layers, ())) for layers in DEPTHS)
        rows.append((name, rate(settings.learning_rate), warm_up(settings.warmup), *of_each_depth, "; ".join(said)))
    return grid(["", "rate", "warm-up", *(f"{layers}-{layers}" for layers in DEPTHS), "the answer"], rows)
