"""Figure 4: Pre-LN without warm-up beside Post-LN with it, and RAdam on both (section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from preln.config import Study
from preln.report.translation.drawing import COLUMNS, Layout, Panel, panel
from preln.runs import Run

TITLES = {"valid_loss": "Validation loss", "bleu": "BLEU"}


def panels(study: Study, runs: Sequence[Run]) -> list[list[Panel]]:
    """A row for each corpus: validation loss, and BLEU beside it."""
    names = list(dict.fromkeys(run.settings.corpus for run in runs)) or list(study.corpora)[:1]
    letters = iter(ascii_lowercase)
    rows = []
    for name in names:
        members = [run for run in runs if run.settings.corpus == name]
        row = []
        for quantity, letter in zip(COLUMNS, "ab", strict=True):
            title = f"({next(letters)}) {TITLES[quantity]}, {name}"
            row.append(panel(4, study, title, quantity, letter, members))
        rows.append(row)
    return rows


# The figure compares placements and optimizers, so its labels name both.
LAYOUT = Layout(4, panels, always=frozenset({"placement", "optimizer"}))
