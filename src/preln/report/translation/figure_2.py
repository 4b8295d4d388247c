"""Figure 2: is warm-up essential? Post-LN trained by Adam and by SGD, with and without it (section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from preln.config import Study
from preln.report.translation.drawing import COLUMNS, Layout, Panel, panel
from preln.runs import Run

OPTIMIZERS = [("(a) Adam", ("adam", "radam"), "a"), ("(b) SGD", ("sgd",), "b")]


def panels(study: Study, runs: Sequence[Run]) -> list[list[Panel]]:
    """A column for each optimizer; validation loss above BLEU."""
    rows = []
    for quantity in COLUMNS:
        row = []
        for title, names, letter in OPTIMIZERS:
            members = [run for run in runs if run.settings.optimizer in names]
            row.append(panel(2, study, title, quantity, letter, members))
        rows.append(row)
    return rows


LAYOUT = Layout(2, panels, legend_by_column=True)
