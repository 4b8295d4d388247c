"""The figure and the table of the first updates show what is traced, of how much, and nothing else."""

import math
from pathlib import Path
from typing import Any

import pytest

from preln.config import Study, validate
from preln.theory.report.first_updates import PANELS
from preln.theory.trace_jobs import expand
from tests.made_up.traces import UPDATES, content, done, made_up
from tests.reading import drawn, tabled, texts

GRID = {"placement": ["post", "pre"], "warmup": [0, 10], "decoder_layers": 2, "seed": [1, 2]}


@pytest.fixture
def traced(tmp_path: Path) -> tuple[Study, Path]:
    """Two placements with and without a warm-up, in two seeds, all done."""
    study = validate(content(GRID, updates=UPDATES), "my.yaml")
    for job in expand(study):
        done(study, job, tmp_path, made_up(job))
    return study, tmp_path


def test_each_quantity_has_a_panel_with_a_curve_of_each_series(traced: tuple[Study, Path]) -> None:
    drawing = drawn("first-updates", *traced)
    panels: dict[str, Any] = {axes.get_title(): axes for axes in drawing.axes if axes.get_title()}
    assert list(panels) == [panel.title for panel, _ in PANELS]
    assert all(len(axes.lines) == 4 for axes in panels.values())
    loss = panels["Loss"].lines[0]
    assert list(loss.get_xdata()) == list(range(UPDATES + 1))
    # The mean of the seeds 1 and 2.
    assert list(loss.get_ydata()) == pytest.approx([10.5 - 0.1 * update for update in range(UPDATES + 1)])
    assert list(panels["Sharpness"].lines[0].get_xdata()) == [0, 4, 8, 12]
    assert panels["Update of the function"].get_yscale() == "log"
    last, first = (panels[f"Gradient, {which} layer"] for which in ("last", "first"))
    assert set(last.lines[0].get_ydata()) == {2.0} and set(first.lines[0].get_ydata()) == {0.5}
    assert last.get_ylim() == first.get_ylim()


def test_the_table_has_the_numbers_of_each_series_over_its_seeds(traced: tuple[Study, Path]) -> None:
    full = tabled("first-updates", *traced).full
    assert len(full["runs"].unique()) == 4
    curve = full[full["runs"] == full["runs"].iloc[0]].set_index("quantity")
    means = curve["mean"].to_dict()
    assert means == pytest.approx(
        {
            # The largest is of the first ten updates, and not of all.
            **{"largest_change": 15.0, "distance": 20.0, "loss": 10.5 - 0.1 * UPDATES, "cosine": 0.05 * UPDATES},
            **{"last_gradient": 2.0, "gradient_ratio": 4.0, "sharpness": 10.0, "largest_sharpness": 22.0},
        }
    )
    assert set(curve["seeds"]) == {2}


def test_the_figure_and_the_table_say_how_much_is_done_and_what_diverged(tmp_path: Path) -> None:
    study = validate(content(GRID, updates=UPDATES), "my.yaml")
    first, second, *_ = expand(study)
    done(study, first, tmp_path, made_up(first))
    done(study, second, tmp_path, made_up(second, 5).assign(loss=math.nan), "diverged")
    table = tabled("first-updates", study, tmp_path)
    assert table.title == "Study tiny: the first updates of 2 of 8 runs traced, 1 diverged."
    assert table.title in texts(drawn("first-updates", study, tmp_path))
    assert table.full.query("quantity == 'loss'")["seeds"].tolist() == [1]
