"""Every picture that comes with a clone can be read: no text lies on another or outside the figure."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from preln.config import of_results
from preln.report.catalogue import Catalogue
from preln.report.core.entries import laid_out
from tests.conftest import committed_pictures

RESULTS = Path(__file__).parents[2] / "results"
PICTURES = committed_pictures()
TOUCH = 1.0
"""Pixels by which the boxes of two texts may reach into each other, for a box is larger than its letters."""


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """The texts that are seen in a figure, and where they are."""
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    hidden: set[Any] = set()
    for axes in figure.axes:
        if not axes.axison:
            hidden |= set(axes.xaxis.findobj(Text)) | set(axes.yaxis.findobj(Text))
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if not low <= tick.get_loc() <= high:
                    hidden |= {tick.label1, tick.label2}
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown if text not in hidden]


def is_within(figure: Figure, box: Bbox) -> bool:
    """Whether a box is whole in the figure."""
    canvas = figure.bbox.padded(TOUCH)
    return bool(canvas.contains(box.x0, box.y0) and canvas.contains(box.x1, box.y1))


def faults(figure: Figure) -> list[str]:
    """The pairs of texts that overlap, and the texts that are not whole in the figure."""
    placed = boxes(figure)
    outside = [f"{text!r} is outside" for text, box in placed if not is_within(figure, box)]
    low, high = (np.array([getattr(box, end) for _, box in placed]) for end in ("min", "max"))
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    pairs = np.argwhere(np.triu((shared > TOUCH).all(axis=2), 1))
    return outside + [f"{placed[first][0]!r} lies on {placed[second][0]!r}" for first, second in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_text_of_a_committed_figure_lies_on_another_or_outside(picture: Path) -> None:
    catalogue = Catalogue(of_results(picture.parents[1] / "study.yaml"))
    figure = catalogue.figure(picture.stem.removeprefix("figure-"))
    compose = partial(figure.compose, catalogue.study, catalogue.load(figure, RESULTS))
    with laid_out(compose) as drawing:
        assert not faults(drawing)


def test_texts_that_overlap_or_are_cut_off_are_found() -> None:
    figure = Figure(figsize=(3, 2))
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "other")
    figure.text(0.99, 0.9, "cut off")
    assert faults(figure) == ["'cut off' is outside", "'one' lies on 'other'"]
