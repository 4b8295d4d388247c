"""The curves of the paper's figure 5(a), as data: the validation loss of BERT by update.

`bert.csv` has what can be read off the figure by eye. The paper does not say in which unit the loss is, nor whether it
holds a part for the next sentence. Its text names the two models the other way round: that Post-LN is at 1.69 after
500,000 updates and Pre-LN after 700,000 cannot be, for the figure has them the other way, and so has the sentence's
own conclusion, that Pre-LN is faster. Figure 5(b, c) has no number that could be recovered.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from preln.config import PretrainingSettings
from preln.report.reference import rows

MODEL = {"layers": 12, "width": 768, "ffn_width": 3072, "heads": 12}
"""The settings of the model whose curves they are (appendix A.2)."""

LOSS = 1.69
"""The loss at which the text compares the two models."""

REACHED = {"pre": 500_000, "post": 700_000}
"""The updates at which the text has them there, its two names exchanged."""


@dataclass(frozen=True)
class Point:
    """One point of figure 5(a); `relation` is `above` where the curve lies above what can be read off."""

    placement: str
    learning_rate: float
    warmup: int
    updates: int
    valid_loss: float
    relation: str
    how_known: str

    def is_of(self, settings: PretrainingSettings) -> bool:
        """True of a point of a run with these settings, whatever its text."""
        of_the_point = {key: getattr(self, key) for key in ("placement", "learning_rate", "warmup")}
        return all(getattr(settings, key) == value for key, value in (MODEL | of_the_point).items())


@cache
def load() -> tuple[Point, ...]:
    """All points, in the order of the file."""
    return rows("bert.csv", Point)
