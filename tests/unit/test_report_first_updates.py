"""The figure and the table of the first updates say what is traced, of how much, and of nothing else."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from preln.config import Study, validate
from preln.jobs.grid import series
from preln.theory.kind import trace
from preln.theory.report.first_updates import QUANTITIES
from preln.theory.trace_jobs import TraceJob, expand
from preln.translation.report.curves import looks_of
from tests.made_up.traces import UPDATES, content, done, made_up
from tests.reading import drawn, tabled, texts

GRID = {"placement": ["post", "pre"], "warmup": [0, 10], "decoder_layers": 2, "seed": [1, 2]}


@pytest.fixture
def traced(tmp_path: Path) -> tuple[Study, list[TraceJob], Path]:
    """Two placements with and without a warm-up, in two seeds, all done."""
    study = validate(content(GRID, updates=UPDATES), "my.yaml")
    jobs = expand(study)
    for job in jobs:
        done(study, job, tmp_path, made_up(job))
    return study, jobs, tmp_path


def test_each_quantity_has_a_panel_with_a_curve_of_each_series(traced: tuple[Study, list[TraceJob], Path]) -> None:
    study, _, results = traced
    drawing = drawn("first-updates", study, results)
    panels: dict[str, Any] = {axes.get_title(): axes for axes in drawing.axes if axes.get_title()}
    assert list(panels) == [quantity.title for quantity in QUANTITIES]
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
    plt.close("all")


def test_each_curve_has_the_look_of_its_run(traced: tuple[Study, list[TraceJob], Path]) -> None:
    study, jobs, results = traced
    looks = looks_of(study)
    expected = dict.fromkeys(
        (look["color"], look["marker"]) for job in jobs if (look := looks[series(job.run.settings)])
    )
    lines: list[Any] = list(drawn("first-updates", study, results).axes[0].lines)
    assert [(line.get_color(), line.get_marker()) for line in lines] == list(expected)


def test_the_table_has_the_numbers_of_each_series_over_its_seeds(traced: tuple[Study, list[TraceJob], Path]) -> None:
    study, _, results = traced
    full = tabled("first-updates", study, results).full
    assert len(full["runs"].unique()) == 4
    curve = full[full["runs"] == full["runs"].iloc[0]].set_index("quantity")
    means = curve["mean"].to_dict()
    assert means == pytest.approx(
        {
            # Of the first ten updates, and not of all.
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


def test_the_status_counts_the_traces_that_are_done(traced: tuple[Study, list[TraceJob], Path]) -> None:
    _, jobs, results = traced
    (results / "tiny" / "first-updates" / jobs[0].id / "run.json").unlink()
    (results / "tiny" / "first-updates" / jobs[1].id / "updates.csv").write_text("")
    rows = [trace(job, results / "tiny" / job.folder, 0.0) for job in jobs[:3]]
    assert [(row.told().plain, row.done) for row in rows] == [
        *(("waiting", 0), ("damaged (updates.csv)", 0), ("finished", UPDATES)),
    ]
    assert rows[2].is_done
