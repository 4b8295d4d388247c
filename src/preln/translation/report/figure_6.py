"""Figure 6: a small fixed rate trains Post-LN without warm-up, slowly (appendix H)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from preln.config import Study
from preln.report.core.figure import Figure
from preln.translation.report.curves import Layout, Part, compose, curves, in_figure
from preln.translation.report.records import SOURCE
from preln.translation.runs import Run


def parts(study: Study, runs: Sequence[Run]) -> list[list[Part]]:
    """The validation loss."""
    return [[Part("", "valid_loss", tuple(runs))]]


LAYOUT = Layout(6, parts)

FIGURE = Figure(
    name="6",
    title="Post-LN at a small rate, without warm-up (appendix H)",
    caption="Post-LN, trained by Adam at a small fixed rate without warm-up, and at the large rate with warm-up and "
    "without it: the validation loss after each epoch, over updates. Several seeds are a mean line, with a band from "
    "the lowest to the highest. A cross ends a run that diverged.\n\n"
    "The paper (appendix H) states that the fixed rate 1e-4 reaches a validation loss around 4.3 in 27 "
    "epochs. That is much lower than the large rate without warm-up, and still worse than the large rate "
    "with it.",
    source=SOURCE,
    of=in_figure(6),
    compose=partial(compose, LAYOUT),
    curves=partial(curves, LAYOUT),
)
