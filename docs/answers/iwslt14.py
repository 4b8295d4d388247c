"""What the questions share that are about trainings on a third of IWSLT14."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from docs.committed import Reader, last_of, translations
from preln.config import RunSettings
from preln.translation.report.failure_map import fails as fails_beside

GUESS = 9.90
"""The loss of the constant guess, as the rules have it: in bits a token, label-smoothed."""
PAPERS_RATE, HIGHER_RATE = 5e-4, 1e-3
"""The peak rates of its runs, which are the paper's two of Adam."""
LONG_WARMUP = 1333
"""The updates of the warm-up with which Post-LN trains at half the paper's width."""
UPDATES = 4653
"""The updates of a run at half the paper's width with three epochs and one batch in an update."""
SCHEDULES = {
    "inverse-sqrt": "inverse square root",
    "constant": "constant, ×0.1 after epoch 2",
    "linear": "linear to 0",
}
"""The schedules of the runs of half the paper's width that have three epochs, in words."""


def fails(loss: float) -> bool:
    """Whether a model has not learned. It has if it ends as far below the constant guess as the map of failure asks."""
    return fails_beside(loss, GUESS)


def of_half_the_width(results: Path, reader: Reader = last_of) -> Iterator[tuple[RunSettings, dict[str, float]]]:
    """The runs of half the paper's width that are done, of both studies."""
    return chain.from_iterable(translations(results, name, reader) for name in ("iwslt14-50k-cpu", "confounds"))
