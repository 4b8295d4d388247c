"""Curves as numbers: what an image draws, and what the page lets one look into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from preln.jobs.grid import Settled, series
from preln.libraries import pd
from preln.report.core.statistics import Estimate, estimate

INTERVAL = ("95% interval from", "to")
EXTENT = ("Lowest", "Highest")
"""The names of the ends of a band: of an `estimate`, and of an `extent`."""
PAPER = "the paper"

S = TypeVar("S", bound=Settled)


@dataclass(frozen=True)
class Curves:
    """Some curves of one quantity over the column `x` of their table.

    Attributes:
        table: a row a point: `curve`, the column `x`, `value`, `low` and `high` of the band, and `seeds`.
        reference: rows with `curve`, the column `x` and `value` of what they are compared with; may be empty.
        looks: the look of each curve in the image, in the terms of `Axes.plot`.
        log: the axes that are logarithmic, among `x` and `y`.
        ends: what the ends of the band are called.
        note: what no curve shows.
    """

    title: str
    x: str
    x_title: str
    y_title: str
    table: pd.DataFrame
    reference: pd.DataFrame
    looks: Mapping[str, Mapping[str, Any]]
    log: frozenset[str] = frozenset()
    ends: tuple[str, str] = INTERVAL
    note: str = ""


def by_series(runs: Iterable[S]) -> dict[Any, list[S]]:
    """The runs of each curve: those that differ in the seed alone, by the settings that they share."""
    grouped: dict[Any, list[S]] = {}
    for run in runs:
        grouped.setdefault(series(run.settings), []).append(run)
    return grouped


def means(data: pd.DataFrame, x: str, over: Callable[[Sequence[float]], Estimate] = estimate) -> pd.DataFrame:
    """The mean of each curve at each `x` over the seeds, with the ends of the band that `over` gives where there are
    several; `data` has a row a point and seed: `curve`, `x` and `value`."""
    rows = []
    for point, group in data.groupby(["curve", x], sort=False):
        band = over(group["value"].tolist())
        rows.append((*point, band.mean, band.low, band.high, band.n))
    return pd.DataFrame(rows, columns=["curve", x, "value", "low", "high", "seeds"])
