"""The committed records are those of the committed studies, and no text of a committed picture lies on another."""

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from preln.config import load, of_results
from preln.jobs import notes
from preln.report.catalogue import Catalogue
from preln.report.core.entries import laid_out
from preln.translation.runs import expand
from tests.conftest import ROOT, committed_pictures, committed_studies

RESULTS = ROOT / "results"
COMMITTED = committed_studies()
CONFIGS = {path: ROOT / "config" / f"{path.parent.name}.yaml" for path in COMMITTED}
CONFIGS[RESULTS / "quick-record" / "study.yaml"] = ROOT / "config" / "config.yaml"
CONFIGURED = {path: config for path, config in CONFIGS.items() if config.exists()}
OF_OTHER_TEXT: dict[str, None] = {"texts": None, "description": None}
NOT_MADE = {
    "iwslt14-50k-scaled": {
        "post-adam-lr5e-4-wu1333-s3",
        "pre-adam-lr5e-4-const-drop8-s3",
        *(
            f"{run}-s{seed}"
            for run in (
                "post-adam-lr5e-4-wu0-hold1333",
                "post-radam-lr5e-4-linear5415",
                "post-radam-lr5e-4-linear5415-beta20.999",
                "pre-radam-lr5e-4-linear5415",
            )
            for seed in (1, 2, 3)
        ),
    }
}
"""The runs that a study of config/ has and its committed records do not have yet; docs/your-own-study.md says so."""


@cache
def catalogue_of(path: Path) -> Catalogue:
    """The figures and tables of a study, whose records are read once for all tests."""
    return Catalogue(of_results(path))


@pytest.mark.numbers
@pytest.mark.parametrize("path", CONFIGURED, ids=lambda path: path.parent.name)
def test_a_committed_study_is_the_one_in_config(path: Path) -> None:
    # How it is computed and where its text lies may differ, and in one study the text: docs/your-own-study.md says so.
    may_differ = {"execution": None} | (OF_OTHER_TEXT if path.parent.name == "bert-scaled" else {})
    committed, configured = load(path), load(CONFIGURED[path])
    not_made = NOT_MADE.get(committed.study, set())
    if not_made:
        asked, made = ({run.id: (run.identity, run.figures) for run in expand(of)} for of in (configured, committed))
        assert asked.keys() - made.keys() == not_made
        assert {name: run for name, run in asked.items() if name not in not_made} == made
        may_differ |= {"translation": None}
    # These are trained a part at a time.
    if committed.study in {"widths", "annealing"}:
        part, whole = ({run.id: run.identity for run in expand(study)} for study in (committed, configured))
        assert part.items() <= whole.items()
        may_differ |= {"translation": None}
    assert committed.identity | may_differ == configured.identity | may_differ


@pytest.mark.numbers
@pytest.mark.slow
@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_the_committed_tables_are_those_of_the_records(path: Path, tmp_path: Path) -> None:
    catalogue = catalogue_of(path)
    for table in catalogue.tables.values():
        # LaTeX is not committed: no page shows it.
        written = {form: tmp_path / form for form in table.files if not form.endswith(".tex")}
        for file in written.values():
            file.parent.mkdir(exist_ok=True)
        progress = catalogue.progress(catalogue.jobs(table), RESULTS)
        table.write(catalogue.study, catalogue.load(table, RESULTS), [*written.values()], progress)
        for form, file in written.items():
            committed = path.parent / form
            assert committed.exists(), f"{committed} is missing; docs/how-it-is-built.md, Before you commit"
            assert file.read_bytes() == committed.read_bytes(), form
    findings = pd.read_csv(path.parent / "findings.csv")
    assert not findings.duplicated(["quantity", "of"]).any()


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_the_notes_on_its_texts_are_read_whenever_it_was_recorded(path: Path) -> None:
    assert all(notes.of_study(catalogue_of(path).everything, path.parent))


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


def faults(figure: Figure) -> list[str]:
    """The pairs of texts that overlap, and the texts that are not whole in the figure."""
    placed, canvas = boxes(figure), figure.bbox.padded(TOUCH)
    cut_off = [text for text, box in placed if not (canvas.contains(*box.min) and canvas.contains(*box.max))]
    outside = [f"{text!r} is outside" for text in cut_off]
    low, high = (np.array([getattr(box, end) for _, box in placed]) for end in ("min", "max"))
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    pairs = np.argwhere(np.triu((shared > TOUCH).all(axis=2), 1))
    return outside + [f"{placed[first][0]!r} lies on {placed[second][0]!r}" for first, second in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("picture", committed_pictures(), ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_text_of_a_committed_figure_lies_on_another_or_outside(picture: Path) -> None:
    catalogue = catalogue_of(picture.parents[1] / "study.yaml")
    figure = catalogue.figure(picture.stem.removeprefix("figure-"))
    with laid_out(partial(figure.compose, catalogue.study, catalogue.load(figure, RESULTS))) as drawing:
        assert not faults(drawing)


def test_texts_that_overlap_or_are_cut_off_are_found() -> None:
    figure = Figure(figsize=(3, 2))
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "other")
    figure.text(0.99, 0.9, "cut off")
    assert faults(figure) == ["'cut off' is outside", "'one' lies on 'other'"]
