"""The seeds by which placements are compared: those that chose the rate of a placement, and new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from docs.bench import depth, models
from docs.bench.models import OnTheBench


def all_seeds(bench: Mapping[str, OnTheBench], new: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """The losses of all seeds of each model at its best rate. A model whose new seeds are not all done is left out. One
    that trains at no rate has no new ones.

    Args:
        bench: the models of the bench, with the seeds that chose their rates.
        new: the losses of the new seeds that are done.
    """
    wanted = {name: depth.SEEDS if one.trains else 0 for name, one in bench.items()}
    return {
        name: [*one.losses, *new.get(name, ())] for name, one in bench.items() if len(new.get(name, ())) == wanted[name]
    }


def read(results: Path) -> dict[str, list[float]]:
    """The losses of all seeds of the models that have them; none while a run of the bench is not made."""
    new = {name: its.get(depth.FEWEST, []) for name, its in depth.read(results).items()}
    return all_seeds(models.read(results), new)
