"""The report's charts show what is recorded, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.report.core.curves import Curves
from preln.report.html.charts import legend, specification
from tests.made_up.translation import ADAM, recorded_study
from tests.reading import charts


def test_a_seed_that_diverged_is_a_curve_of_its_own_and_no_part_of_the_mean(tmp_path: Path) -> None:
    grid = [{**ADAM, "seed": [1, 2, 3]}]
    study, _ = recorded_study(tmp_path, [6.0, 5.0], [7.0, 6.0], ([90.0], 81), grid=grid)
    losses = specification(charts("2", study, tmp_path)[0])
    (rows,) = losses["datasets"].values()
    drawn = {(row["curve"], row["x"]): (row["value"], row["seeds"]) for row in rows}
    assert drawn == {
        ("Post-LN", 100): (6.5, 2),
        ("Post-LN", 200): (5.5, 2),
        ("Post-LN, seed 3", 100): (90.0, 1),
        **{("uniform guess", x): (10.0, None) for x in (100, 200)},
    }


def test_a_panel_none_of_whose_runs_is_done_has_no_chart(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, [6.0, 5.0], grid=[ADAM, {**ADAM, "optimizer": "sgd"}])
    titles = [curves.title for curves in charts("2", study, tmp_path)]
    assert titles == ["(a) Adam: Validation loss", "(a) Adam: Test BLEU"], "and none of SGD"


@pytest.mark.slow
def test_a_chart_has_as_many_points_as_are_recorded(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, [6.0] * 5_001, grid=[ADAM])
    (rows,) = specification(charts("2", study, tmp_path)[0])["datasets"].values()
    assert len(rows) == 5_001


def curves_with(looks: dict[str, dict[str, Any]], **changes: Any) -> Curves:
    """Three points of a curve, from zero on both axes."""
    table = pd.DataFrame({"curve": "a", "x": [0, 1, 2], "value": [0.0, 3.0, 4.0], "low": [-1.0, 0.0, 3.5], "high": 5.0})
    return Curves("Title", "x", "Update", "Loss", table.assign(seeds=2), pd.DataFrame(), looks, **changes)


@pytest.mark.parametrize(
    ("name", "sign"),
    [("solid", "-"), ("dashed", "--"), ("dotted", ":"), ("dashdot", "-."), ("none", "None"), ("", "None")],
)
def test_a_line_may_have_each_of_its_names(name: str, sign: str) -> None:
    dashes = [legend(curves_with({"a": {"color": "red", "linestyle": line}}))[0].dashes for line in (name, sign)]
    assert dashes[0] == dashes[1]


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("", [(0, 0.0, -1.0), (1, 3.0, 0.0), (2, 4.0, 3.5)]),
        ("x", [(1, 3.0, 0.0), (2, 4.0, 3.5)]),
        ("y", [(1, 3.0, None), (2, 4.0, 3.5)]),
    ],
)
def test_a_logarithmic_axis_has_positive_numbers_alone(log: str, shown: list[tuple[Any, ...]]) -> None:
    chart = specification(curves_with({"a": {"color": "red"}}, log=frozenset(log)))
    (rows,) = chart["datasets"].values()
    assert [(row["x"], row["value"], row["low"]) for row in rows] == shown
