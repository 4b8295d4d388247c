"""Figures, tables and pages as tests read them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from preln.config import Study
from preln.report.catalogue import Catalogue
from preln.report.core.curves import Curves
from preln.report.core.forms import Content

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def drawn(name: str, study: Study, results: Path) -> Any:
    """A figure of a study, drawn by matplotlib from its records."""
    catalogue = Catalogue(study)
    figure = catalogue.figure(name)
    return figure.compose(study, catalogue.load(figure, results))


def charts(name: str, study: Study, results: Path) -> list[Curves]:
    """A figure of a study as the charts of its page, from its records."""
    catalogue = Catalogue(study)
    figure = catalogue.figure(name)
    return figure.curves(study, catalogue.load(figure, results))


def tabled(name: str, study: Study, results: Path) -> Content:
    """A table of a study, made from its records."""
    catalogue = Catalogue(study)
    table = catalogue.table(name)
    return table.make(study, catalogue.load(table, results))


def texts(figure: Figure) -> str:
    """All that is written in a figure, with its lines joined."""
    written = [figure.get_supxlabel(), *(text.get_text() for text in figure.texts)]
    written += [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    for axes in figure.axes:
        written += [text.get_text() for text in axes.texts]
        legend = axes.get_legend()
        written += [text.get_text() for text in legend.get_texts()] if legend else []
    return " | ".join(written).replace("\n", " ").replace("\xa0", " ")


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def blocks(page: Path, *languages: str) -> list[str]:
    """A page's blocks of code in some languages."""
    return [code for language, code in FENCE.findall(page.read_text(encoding="utf-8")) if language in languages]
