"""The figures by name: the paper's by their numbers, and two of the theory that the paper has not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from preln.config import Study
from preln.errors import PrelnError
from preln.report.core import save_figure as page
from preln.report.pretraining import figure_5
from preln.report.pretraining import records as pretraining_records
from preln.report.products import FIGURE_OF_PRETRAINING
from preln.report.theory import figure_3, figure_gradients, figure_theory
from preln.report.theory import records as theory_records
from preln.report.translation import drawing, figure_2, figure_4, figure_6
from preln.runs import Run
from preln.theory.measurement_jobs import MeasurementJob

OF_RUNS = {str(layout.number): layout for layout in (figure_2.LAYOUT, figure_4.LAYOUT, figure_6.LAYOUT)}
OF_THEORY = {"3": figure_3.compose, "theory": figure_theory.compose, "gradients": figure_gradients.compose}


def draw(
    name: str, study: Study, runs: Sequence[Run], parts: Sequence[MeasurementJob], results: Path, out: Sequence[Path]
) -> None:
    """Draw a figure of a study to each file of `out`, in the format of its suffix (pdf, png, svg).

    The same records give the same bytes. What is not done is left out, and the figure says how much is in it.

    Args:
        name: of the figure.
        study: the study.
        runs: all runs of the study.
        parts: all parts of its theory.
        results: folder of the results of all studies.
        out: the files to write.

    Raises:
        PrelnError: if there is no such figure, or a suffix is of no format that can be drawn.
        RecordError: if a record cannot be used.
    """
    if name in OF_RUNS:
        drawing.draw(OF_RUNS[name], study, runs, results, out)
    elif name == FIGURE_OF_PRETRAINING:
        page.save(partial(figure_5.compose, study, pretraining_records.load(study, results)), out)
    elif name in OF_THEORY:
        page.save(partial(OF_THEORY[name], theory_records.load(study, parts, results)), out)
    else:
        raise PrelnError(
            f"figure {name}: not drawn; allowed: {', '.join([*OF_RUNS, FIGURE_OF_PRETRAINING, *OF_THEORY])}"
        )
