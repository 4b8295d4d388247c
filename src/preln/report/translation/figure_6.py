"""Figure 6: a small fixed rate trains Post-LN without warm-up, slowly (appendix H)."""

from __future__ import annotations

from collections.abc import Sequence

from preln.config import Study
from preln.report.translation.drawing import Layout, Panel, panel
from preln.runs import Run


def panels(study: Study, runs: Sequence[Run]) -> list[list[Panel]]:
    """The validation loss."""
    return [[panel(6, study, "", "valid_loss", "", runs)]]


LAYOUT = Layout(6, panels)
