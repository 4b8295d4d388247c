"""The figure of the first update by depth: points are those of the traces, exponents those of the points."""

from pathlib import Path

import pandas as pd
import pytest

from preln.config import Study, validate
from preln.report.catalogue import Catalogue
from preln.theory.report.figure_amplification import QUANTITIES, slope, values
from preln.theory.report.traces import first_step, load
from preln.theory.trace_jobs import TraceJob, expand
from tests.made_up.traces import content, done, language_content
from tests.reading import charts, drawn

DEPTHS = (1, 2, 4)


def study_of(depths: tuple[int, ...] = DEPTHS) -> Study:
    grid = [
        {"placement": ["post", "pre"], "encoder_layers": depth, "decoder_layers": depth, "seed": [1, 2]}
        for depth in depths
    ]
    return validate(content(*grid, updates=3), "my.yaml")


def study_of_language_models() -> Study:
    grid = {"placement": ["post", "pre"], "layers": list(DEPTHS), "seed": [1, 2]}
    return validate(language_content(grid, updates=3), "my.yaml")


def made_up(job: TraceJob) -> pd.DataFrame:
    """The step of Post-LN grows with the depth, that of Pre-LN does not; the gradients do the reverse."""
    depth, seed = job.settings.decoder_layers, job.settings.seed
    grows, stays = seed * depth**0.5, float(seed)
    step, gradient = (grows, stays) if job.settings.placement == "post" else (stays, grows)
    later = {"function_change": 100.0, f"gradient_norm.decoder.{depth}": 100.0}
    first = {"function_change": step, f"gradient_norm.decoder.{depth}": gradient}
    rows = [{}, first, later, later]
    return pd.DataFrame([{"update": update, "loss": 9.0, "cosine": 0.0, **row} for update, row in enumerate(rows)])


@pytest.fixture(params=[study_of, study_of_language_models])
def traced(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Study, Path]:
    study = request.param()
    for job in expand(study):
        done(study, job, tmp_path, made_up(job))
    return study, tmp_path


def test_an_exponent_is_of_seeds_that_have_every_depth(traced: tuple[Study, Path]) -> None:
    study, results = traced
    last = expand(study)[-1]
    (results / study.study / last.folder / "run.json").unlink()
    points = values(load(study, expand(study), results), first_step)
    slopes = {name: slope(curve, DEPTHS) for name, curve in points.groupby("placement")}
    assert {name: exponent.n for name, exponent in slopes.items()} == {"post": 2, "pre": 1}
    assert {name: exponent.mean for name, exponent in slopes.items()} == pytest.approx({"post": 0.5, "pre": 0.0})


def test_each_panel_has_a_line_of_each_placement_with_its_exponent(traced: tuple[Study, Path]) -> None:
    drawing = drawn("amplification", *traced)
    assert [axes.get_title() for axes in drawing.axes] == list(QUANTITIES)
    step, gradient = drawing.axes
    for axes, exponents in ((step, ["0.50 ± 0.00)", "0.00 ± 0.00)"]), (gradient, ["0.00 ± 0.00)", "0.50 ± 0.00)"])):
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        assert [name.rpartition(" (")[2] for name in names] == exponents
    # The mean of the seeds 1 and 2; records have five digits.
    expected = [1.5 * depth**0.5 for depth in DEPTHS]
    assert list(step.containers[0].lines[0].get_ydata()) == pytest.approx(expected, rel=1e-4)


def test_the_page_has_the_points_as_numbers(traced: tuple[Study, Path]) -> None:
    step, _ = charts("amplification", *traced)
    assert step.table.groupby("curve", sort=False)["value"].last().tolist() == pytest.approx([3.0, 1.5])
    assert set(step.table["seeds"]) == {2}


@pytest.mark.parametrize("depths", [(1, 2), (2,)])
def test_a_study_of_fewer_than_three_depths_does_not_have_it(depths: tuple[int, ...]) -> None:
    assert "amplification" not in Catalogue(study_of(depths)).figures
