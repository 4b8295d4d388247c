"""The numbers of Xiong et al. (2020) for figures 2, 4 and 6, as data: `translation.csv`.

The text's BLEU of the ends of runs is entered at epoch 15, the length of those runs. `error` is the reading
error of Figure 4(b): 0.2, and 0.5 for the steep first three epochs and for points behind another curve; where
it is empty it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from preln.config import Optimizer, Placement, RunSettings, ScheduleName
from preln.report.reference import OptionalNumber, rows
from preln.report.reference.gradients import MODEL

HowKnown = Literal["printed", "stated", "digitised", "read-off"]
Quantity = Literal["valid_loss", "bleu"]

_MODEL = MODEL | {"beta1": 0.9, "beta2": 0.98}
"""The settings that all of these runs share (Section 3.2, Appendix A.1)."""

BATCH_TOKENS = 4096
"""Target tokens of a mini-batch, at most (Appendix A.1)."""
UPDATES_AN_EPOCH = 1100
"""Updates of an epoch of the paper's IWSLT14. The paper does not say how many: so many batches of 4,096 target tokens
hold its 153,000 pairs."""
UPDATES_AN_EPOCH_WITHIN = (1000, 1200)
"""Between these they lie, by how full its batches were and by where the field's pairs and the paper's differ."""


@dataclass(frozen=True)
class Reference:
    """One number of the paper, in a panel of a figure (`a` or `b`; empty where the figure has one), of a curve.

    Attributes:
        warmup: updates; 0 is none, which the paper writes as `T_warmup = 1`.
        learning_rate: the peak rate; None where the paper does not say which.
        quantity: `valid_loss` (label-smoothed) or `bleu` (the paper does not say of which text).
        x: epoch.
        y: the value in `unit`; None where the paper gives words and no number.
        unit: `bits/token`, inferred from fairseq's logs, or `BLEU`.
        error: of `y`, in its unit; None where unknown.
        statement: the paper's words, where it has any.
    """

    figure: int
    panel: str
    series: str
    placement: Placement
    optimizer: Optimizer
    schedule: ScheduleName
    warmup: int
    learning_rate: OptionalNumber
    quantity: Quantity
    x: float
    y: OptionalNumber
    unit: str
    how_known: HowKnown
    error: OptionalNumber
    statement: str
    source: str

    @property
    def update(self) -> float:
        """Its place among the updates of a training."""
        return self.x * UPDATES_AN_EPOCH

    def is_of(self, settings: RunSettings) -> bool:
        """True of the number of a run with these settings, as far as the paper says; the run's corpus
        and its length are left to the caller."""
        # One update of warm-up is at the peak at once, as none is.
        warmup = settings.warmup if settings.warmup > 1 else 0
        return (
            self.placement == settings.placement
            and self.optimizer == settings.optimizer
            and self.schedule == settings.schedule
            and self.warmup == warmup
            and self.learning_rate in (None, settings.learning_rate)
            and all(getattr(settings, key) == value for key, value in _MODEL.items())
        )


@cache
def load() -> tuple[Reference, ...]:
    """All numbers, in the order of the file."""
    return rows("translation.csv", Reference)
