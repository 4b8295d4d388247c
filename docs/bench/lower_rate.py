"""Was the rate too high for the deepest models?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.bench import depth, models
from docs.bench.depth import DEEPER, FEWEST
from docs.bench.models import is_ahead, models_of, name_of
from docs.committed import Ends, by_settings, translations
from docs.markdown import grid, losses, rate

STUDY = "placements-depth-lower"


def answer(shallow: Sequence[float], first: Sequence[float], lower: Sequence[float], guess: float) -> list[str]:
    """What becomes of a placement with the depth at the lower rate, and whether the first rate was too high. Nothing is
    said before both seeds are done.

    Args:
        shallow: the losses with the fewest layers, at the first rate.
        first: those with the most layers, at the first rate.
        lower: those with the most layers, at the lower rate.
        guess: that of the constant guess.
    """
    if len(first) < depth.SEEDS:
        return []
    said = depth.answer(shallow, [lower], guess)
    trains = said and said != ["fails"]
    return [*said, "the rate was too high"] if trains and is_ahead(lower, first) else said


def read(results: Path) -> dict[str, Ends]:
    """The ends of the seeds that are done at the lower rate, by the names of the models on the bench."""
    return by_settings(translations(results, STUDY), name_of)


def table(results: Path) -> str:
    """The placements that fail or lose with the depth, at the lower rate."""
    bench, at_first, at_the_lower = models.read(results), depth.read(results), read(results)
    rows = []
    for name, settings in models_of(STUDY).items():
        shallow, first = (at_first.get(name, {}).get(layers, ()) for layers in (FEWEST, DEEPER[-1]))
        lower = at_the_lower.get(name, Ends()).losses
        said = answer(shallow, first, lower, bench[name].guess) if name in bench else []
        rows.append((name, rate(settings.learning_rate), *map(losses, (shallow, first, lower)), "; ".join(said)))
    few, many = (f"{layers}-{layers}" for layers in (FEWEST, DEEPER[-1]))
    head = ["", "the lower rate", f"{few}, first rate", f"{many}, first rate", f"{many}, lower rate", "the answer"]
    return grid(head, rows)
