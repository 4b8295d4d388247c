"""Figure 4: Pre-LN without warm-up beside Post-LN with it, and RAdam on both (section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from string import ascii_lowercase

from preln.config import Study
from preln.report.core.figure import Figure
from preln.translation.report.curves import COLUMNS, Layout, Part, compose, curves, in_figure
from preln.translation.report.records import SOURCE
from preln.translation.runs import Run

TITLES = {"valid_loss": "Validation loss", "bleu": "BLEU"}


def parts(study: Study, runs: Sequence[Run]) -> list[list[Part]]:
    """A row for each corpus: validation loss, and BLEU beside it."""
    names = list(dict.fromkeys(run.settings.corpus for run in runs)) or list(study.corpora)[:1]
    letters = iter(ascii_lowercase)
    rows = []
    for name in names:
        members = [run for run in runs if run.settings.corpus == name]
        row = []
        for quantity, letter in zip(COLUMNS, "ab", strict=True):
            title = f"({next(letters)}) {TITLES[quantity]}, {name}"
            row.append(Part(title, quantity, tuple(members), letter))
        rows.append(row)
    return rows


# The figure compares placements and optimizers, so its labels name both.
LAYOUT = Layout(4, parts, always=frozenset({"placement", "optimizer"}))

FIGURE = Figure(
    name="4",
    title="Pre-LN without warm-up beside Post-LN with it (section 4.1)",
    caption="Pre-LN without warm-up and Post-LN with it, by Adam and RAdam: the validation loss on the left, and "
    "BLEU on test on the right, after each epoch, over updates; a row for each corpus. Unbroken lines are Post-LN, and "
    "dashed lines Pre-LN. Colour and marker say how training starts: with warm-up, without it, or with "
    "RAdam. Several seeds are a mean line, with a band from the lowest to the highest. A cross ends a run "
    "that diverged. Grey lines, where there are any, are the paper's, with 1,100 updates an epoch.\n\n"
    "The paper (section 4) states that Pre-LN without warm-up reaches a BLEU around 34 and a validation loss "
    "around 4, comparable to Post-LN with warm-up; that its 9th checkpoint is as good as the 15th of "
    "Post-LN; and that RAdam helps Post-LN but makes little difference for Pre-LN. In the paper the two also "
    "differ in schedule: Pre-LN has a constant rate that drops at the 8th epoch, and Post-LN an inverse "
    "square root.",
    source=SOURCE,
    of=in_figure(4),
    compose=partial(compose, LAYOUT),
    curves=partial(curves, LAYOUT),
)
