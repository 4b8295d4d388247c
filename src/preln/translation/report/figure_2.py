"""Figure 2: is warm-up essential? Post-LN trained by Adam and by SGD, with and without it (section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from preln.config import Study
from preln.report.core.figure import Figure
from preln.translation.report.curves import COLUMNS, Layout, Part, compose, curves, in_figure
from preln.translation.report.records import SOURCE
from preln.translation.runs import Run

OPTIMIZERS = [("(a) Adam", ("adam", "radam"), "a"), ("(b) SGD", ("sgd",), "b")]


def parts(study: Study, runs: Sequence[Run]) -> list[list[Part]]:
    """A column for each optimizer; validation loss above BLEU."""
    rows = []
    for quantity in COLUMNS:
        row = []
        for title, names, letter in OPTIMIZERS:
            members = [run for run in runs if run.settings.optimizer in names]
            row.append(Part(title, quantity, tuple(members), letter))
        rows.append(row)
    return rows


LAYOUT = Layout(2, parts, legend_by_column=True)

FIGURE = Figure(
    name="2",
    title="Is warm-up essential? Post-LN by Adam and by SGD (section 3.2)",
    caption="Post-LN, trained by (a) Adam and (b) SGD, with and without warm-up: the validation loss above, and BLEU "
    "on test below, after each epoch, over updates. Colour and the shape of the marker are the warm-up, its filling "
    "is the peak learning rate, and the line says where the decay begins. Several seeds are a mean line, with a "
    "band from the lowest to the highest. A cross ends a run that diverged. Losses far above the "
    "unigram baseline are drawn at the upper edge.\n\n"
    "The paper (section 3.2) states for Adam a BLEU of only 8.45 without warm-up and around 34 with it. For "
    "a warm-up of 500 updates it states 31.16 at peak rate 5e-4, and 2.77 at 1e-3. For SGD without warm-up "
    "it states a BLEU just above zero. It does not say where the decay begins without warm-up, so there may "
    "be several such curves.",
    source=SOURCE,
    of=in_figure(2),
    compose=partial(compose, LAYOUT),
    curves=partial(curves, LAYOUT),
)
