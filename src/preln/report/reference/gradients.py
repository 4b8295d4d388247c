"""The bars of the paper's figure 3(a, b), as data: the expected gradients of the decoder's feed-forward matrices.

`gradients.csv` says how each is known. Of the W^1 after warm-up only that they are almost zero can be read off; of
panels (c) and (d) only what the text says: Post-LN's last gradient remains around 1.6 at every depth, and Pre-LN's
decreases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from preln.config import RunSettings
from preln.report.reference import OptionalNumber, rows
from preln.theory.measurements import AFTER_WARMUP

_LAYERS = {"encoder_layers": 6, "decoder_layers": 6}
MODEL = _LAYERS | {"width": 512, "ffn_width": 1024, "heads": 4, "dropout": 0.1, "label_smoothing": 0.1}
"""The settings of the model whose bars they are (section 3.4, appendix A.1)."""

WARMED_UP = {"warmup": 4000, "batch_tokens": 4096, "accumulate": 1}
"""The settings of its training, for the bars after warm-up (section 3.2, appendix A.1)."""

AROUND = {"post": 1.6}
"""The last gradient at every depth, as the text states it: "around 1.6" in Post-LN. In Pre-LN it decreases."""

BY_DEPTH = {"post": "c", "pre": "d"}
"""The panel with a placement's last gradient at every depth."""


@dataclass(frozen=True)
class Bar:
    """One bar of figure 3; `error` is the reading error, None where it is not known."""

    panel: str
    placement: str
    state: str
    matrix: str
    layer: int
    value: float
    error: OptionalNumber
    how_known: str

    def is_of(self, settings: RunSettings) -> bool:
        """True of a bar of a model with these settings, whatever its corpus."""
        shared = {**MODEL, "placement": self.placement} | (WARMED_UP if self.state == AFTER_WARMUP else {})
        return all(getattr(settings, key) == value for key, value in shared.items())


@cache
def load() -> tuple[Bar, ...]:
    """All bars, in the order of the file."""
    return rows("gradients.csv", Bar)
