"""The bench of placements: which studies have one, what its table says, and what its figure draws."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

from preln.config import Study
from preln.placements import PLACEMENTS
from preln.report.catalogue import Catalogue
from preln.theory import measurement_jobs
from preln.theory.measurement_jobs import GradientJob
from preln.theory.measurements import Measurement
from preln.translation.runs import Run
from tests.made_up.maps import GRID, GUESS, LEARNED, RATES, STUCK, bench
from tests.made_up.theory import write_part
from tests.made_up.translation import small_study
from tests.reading import drawn, points, tabled


def table(study: Study, results: Path) -> Any:
    """The rows of the table, by model and warm-up."""
    return tabled("placements", study, results).full.set_index(["model", "warmup"])


def panels(study: Study, results: Path) -> dict[str, Axes]:
    return {axes.get_title(): axes for axes in drawn("placements", study, results).axes if axes.get_title()}


def test_a_study_of_two_placements_has_neither_figure_nor_table() -> None:
    study, _ = small_study({**GRID, "placement": ["post", "pre"]})
    assert "placements" not in Catalogue(study).figures
    assert "placements" not in Catalogue(study).tables


def test_the_best_rate_has_the_lowest_loss_of_those_that_train(tmp_path: Path) -> None:
    ends = {1e-4: 6.0, 1e-3: 4.5, 1e-2: None}
    study, _ = bench(tmp_path, lambda run: ends[run.settings.learning_rate])
    row = table(study, tmp_path).loc[("Peri-LN", 0)]
    columns = ["best_rate", "best_valid_loss", "lowest_rate", "highest_rate", "training", "rates"]
    assert row[columns].tolist() == [1e-3, 4.5, 1e-4, 1e-3, 2, 3]


def test_a_model_that_trains_at_no_rate_has_no_best_one(tmp_path: Path) -> None:
    study, _ = bench(tmp_path, lambda run: STUCK if run.settings.placement == "post" else LEARNED)
    rows = table(study, tmp_path)
    assert math.isnan(rows.loc[("Post-LN", 0), "best_rate"])
    assert rows.loc[("Post-LN", 0), "training"] == 0
    assert rows.loc[("Pre-LN", 0), "training"] == 3


def test_the_spread_is_of_the_seeds_at_the_best_rate(tmp_path: Path) -> None:
    grid = {**GRID, "seed": [1, 2]}
    study, _ = bench(tmp_path, lambda run: 4.0 + run.settings.seed + 100 * run.settings.learning_rate, grid)
    row = table(study, tmp_path).loc[("Pre-LN", 50)]
    columns = ["lowest", "best_valid_loss", "highest", "seeds"]
    assert row[columns].tolist() == pytest.approx([5.01, 5.51, 6.01, 2])


def test_the_sensitivity_counts_no_seed_as_worse_than_the_constant_guess(tmp_path: Path) -> None:
    highest: dict[int, float | None] = {1: None, 2: 6.0}

    def loss(run: Run) -> float | None:
        return highest[run.settings.seed] if run.settings.learning_rate == 1e-2 else 5.0

    study, _ = bench(tmp_path, loss, {**GRID, "seed": [1, 2]})
    # At the highest rate the mean of 8 and 6: 2 above the best, over half of the range, at a quarter of the weight.
    assert table(study, tmp_path).loc[("Post-LN", 0), "sensitivity"] == pytest.approx((GUESS + 6) / 2 / 4 - 5.0 / 4)


def test_there_is_no_sensitivity_while_a_rate_is_missing(tmp_path: Path) -> None:
    study, _ = bench(tmp_path, lambda run: LEARNED, done=lambda run: run.settings.learning_rate > 1e-4)
    row = table(study, tmp_path).loc[("Pre-LN", 0)]
    assert math.isnan(row["sensitivity"])
    assert row["rates"] == 2


def test_an_option_is_a_model_of_its_own_and_says_so(tmp_path: Path) -> None:
    options = [GRID | {"placement": "pre", "norm": "rms"}, GRID | {"placement": "pre", "qk_norm": True}]
    study, _ = bench(tmp_path, lambda run: LEARNED, GRID, *options)
    names = ["Post-LN", "Pre-LN", "Peri-LN", "Pre-LN, RMSNorm", "Pre-LN, QK-norm"]
    assert list(dict.fromkeys(name for name, _ in table(study, tmp_path).index)) == names
    assert list(panels(study, tmp_path)) == names


def of_gradients(part: GradientJob) -> list[Measurement]:
    """Gradients that fall with the root of the depth, and hidden states that grow with the layer, but in Post-LN."""
    depth, placement = part.settings.decoder_layers, part.settings.placement
    base = Measurement("translation", "", "initial", placement, "decoder", depth, 128, None, "", 1, "", math.nan)
    rows = []
    for seed in part.seeds:
        for layer in range(1, depth + 1):
            at = replace(base, seed=seed, layer=layer)
            gradient = 1.0 if placement == "post" else depth**-0.5
            rows.append(replace(at, matrix="W2", quantity="expected_gradient_norm", value=gradient))
            square = 1.5 if placement == "post" else 1.0 + layer
            rows.append(replace(at, quantity="square_norm", value=square))
    return rows


def test_the_table_has_what_the_theory_measures_of_a_placement_without_options(tmp_path: Path) -> None:
    with_option = {**GRID, "placement": "pre", "norm": "rms"}
    gradients = {"runs": ["post-adam-lr1e-3-const-wu50-s1"], "depths": [6, 12], "batches": 1}
    study, _ = bench(tmp_path, lambda run: LEARNED, GRID, with_option, theory={"seeds": 2, "gradients": gradients})
    for part in measurement_jobs.expand(study):
        if isinstance(part, GradientJob) and not part.trained:
            write_part(study, part, of_gradients(part), tmp_path)
    rows = table(study, tmp_path)
    assert rows.loc[("Post-LN", 0), ["depth_exponent", "state_growth"]].tolist() == pytest.approx([0.0, 1.0])
    assert rows.loc[("Pre-LN", 50), ["depth_exponent", "state_growth"]].tolist() == pytest.approx([-0.5, 3.5])
    assert rows.loc[("Pre-LN, RMSNorm", 0), ["depth_exponent", "state_growth"]].isna().all()


def test_a_panel_has_a_line_for_each_warm_up_in_the_colour_of_its_placement(tmp_path: Path) -> None:
    study, _ = bench(tmp_path, lambda run: 5.0 if run.settings.warmup else 6.0)
    colour = PLACEMENTS["peri"].colour
    coloured = [line for line in panels(study, tmp_path)["Peri-LN"].lines if line.get_color() == colour]
    without, with_it = (line for line in coloured if line.get_marker() != "x")
    assert points(without) == [(rate, 6.0) for rate in RATES]
    assert points(with_it) == [(rate, 5.0) for rate in RATES]
    assert (without.get_markerfacecolor(), with_it.get_markerfacecolor()) == ("white", colour)


def test_a_panel_has_the_constant_guess_and_the_border_of_failing(tmp_path: Path) -> None:
    study, _ = bench(tmp_path, lambda run: LEARNED)
    across = [line for line in panels(study, tmp_path)["Post-LN"].lines if [x for x, _ in points(line)] == [0, 1]]
    assert [points(line)[0][1] for line in across] == pytest.approx([GUESS, GUESS - 0.3])


def test_a_rate_of_which_a_seed_diverged_has_a_cross_above_the_constant_guess(tmp_path: Path) -> None:
    study, _ = bench(
        tmp_path,
        lambda run: None if (run.settings.learning_rate, run.settings.seed) == (1e-2, 1) else LEARNED,
        {**GRID, "seed": [1, 2]},
    )
    crosses = [points(line) for line in panels(study, tmp_path)["Pre-LN"].lines if line.get_marker() == "x"]
    assert [[x for x, _ in cross] for cross in crosses] == [[1e-2], [1e-2]]
    assert min(y for cross in crosses for _, y in cross) > GUESS


def test_a_loss_far_above_the_guess_is_drawn_at_the_upper_edge(tmp_path: Path) -> None:
    study, _ = bench(tmp_path, lambda run: 15.0 if run.settings.learning_rate == 1e-2 else LEARNED)
    axes = panels(study, tmp_path)["Pre-LN"]
    highest = max(y for line in axes.lines for _, y in points(line))
    assert GUESS < highest < axes.get_ylim()[1] < 10
