"""The paper's figures by number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preln.config import Study
from preln.errors import PrelnError
from preln.report import drawing, figure_2, figure_4, figure_6
from preln.runs import Run

LAYOUTS = {layout.number: layout for layout in (figure_2.LAYOUT, figure_4.LAYOUT, figure_6.LAYOUT)}


def draw(number: int, study: Study, runs: Sequence[Run], results: Path, out: Sequence[Path]) -> None:
    """Draw figure `number` of a study, as `drawing.draw` does.

    Raises:
        PrelnError: if there is no such figure, or a suffix is of no format that can be drawn.
        RecordError: if a record cannot be used.
    """
    if number not in LAYOUTS:
        raise PrelnError(f"figure {number}: not drawn; allowed: {', '.join(map(str, LAYOUTS))}")
    drawing.draw(LAYOUTS[number], study, runs, results, out)
