"""Figures and tables of the theory say what was measured, and of how much."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import Study, validate
from preln.report.catalogue import Catalogue
from preln.theory.measurement_jobs import GradientJob, MeasurementJob
from preln.theory.measurements import Measurement
from preln.theory.report import records as theory_records
from preln.theory.report import tables as theory_tables
from preln.theory.report.figure_variants import values
from preln.translation.runs import expand
from tests.conftest import study_content
from tests.made_up.theory import NAME, RUN, SEEDS, rows_of, small_study, write_part
from tests.reading import drawn, tabled, texts

PAPERS: dict[str, Any] = {"width": 512, "ffn_width": 1024, "heads": 4, "dropout": 0.1, "label_smoothing": 0.1}
Rows = Callable[[MeasurementJob], list[Measurement]]


def measurements(results: Path, *names: str, rows: Rows = rows_of, **changes: Any) -> Study:
    """A study of which the parts of these names, or all of them, are measured."""
    study, parts = small_study(**changes)
    for part in parts:
        if not names or part.id in names:
            write_part(study, part, rows(part), results)
    return study


@pytest.mark.slow
def test_a_run_that_diverged_in_its_warm_up_leaves_figures_and_tables_without_what_follows_it(tmp_path: Path) -> None:
    def rows(part: MeasurementJob) -> list[Measurement]:
        return [] if isinstance(part, GradientJob) and part.trained else rows_of(part)

    study = measurements(tmp_path, rows=rows)
    for name in ("3", "theory", "gradients"):
        drawn(name, study, tmp_path)
    for name in ("theory", "figure-3"):
        table = tabled(name, study, tmp_path).full
        assert len(table) and "Post-LN, after warm-up" not in table.to_csv()


def test_a_gradient_of_zero_has_no_exponent() -> None:
    rows = pd.DataFrame({"seed": [1, 1, 2, 2], "depth": [1, 4, 1, 4], "value": [1.0, 0.5, 0.0, 0.0]})
    assert theory_records.exponents(rows, "depth") == pytest.approx([-0.5])


@pytest.mark.parametrize(
    ("name", "parts_done", "letters"),
    [
        ("3", ["post-6"], "abc"),
        ("3", ["pre-6", "pre-8"], "abd"),
        ("3", ["post-6-after-warm-up"], "ab"),
        ("theory", ["exact-depths"], "d"),
        ("theory", ["exact-layers", "exact-widths"], "abcef"),
        ("theory", ["post-6"], "f"),
    ],
)
def test_a_panel_of_nothing_is_left_out(name: str, parts_done: list[str], letters: str, tmp_path: Path) -> None:
    figure = drawn(name, measurements(tmp_path, *parts_done), tmp_path)
    assert "".join(axes.get_title()[1] for axes in figure.axes if axes.get_title().startswith("(")) == letters
    assert re.search(rf"\b{len(parts_done)} of \d+ parts", texts(figure))


def test_the_gradients_of_what_is_not_measured_have_no_panels(tmp_path: Path) -> None:
    figure = drawn("gradients", measurements(tmp_path, "pre-6"), tmp_path)
    assert [axes.get_title() for axes in figure.axes if axes.has_data()] == ["Pre-LN, at initialisation"]


MANY = ["post", "pre", "peri", "deepnorm", "sandwich", "keel", "lns"]


@pytest.mark.parametrize("name", ["3", "gradients"])
@pytest.mark.parametrize(("placements", "shown"), [(MANY[:6], MANY[:6]), (MANY, ["post", "pre"])])
def test_of_many_placements_the_papers_two_are_drawn(name: str, placements: list[str], shown: list[str]) -> None:
    study, _ = small_study({**RUN, "placement": placements})
    parts = Catalogue(study).jobs(Catalogue(study).figure(name))
    assert {part.settings.placement for part in parts if isinstance(part, GradientJob)} == set(shown)


def test_the_table_of_figure_3_has_every_placement() -> None:
    study, all_parts = small_study({**RUN, "placement": MANY})
    assert Catalogue(study).jobs(Catalogue(study).table("figure-3")) == all_parts


def test_the_bars_of_figure_3_are_the_means_over_the_seeds(tmp_path: Path) -> None:
    _, matrices, depths, *_ = drawn("3", measurements(tmp_path), tmp_path).axes
    assert "W^2" in matrices.get_title()
    heights = [[bar.get_height() for bar in container] for container in matrices.containers]
    expected = [2.0 ** (layer - 6) * 1.02 for layer in range(1, 7)]
    assert heights == [pytest.approx(expected)] * 3
    assert [label.get_text() for label in depths.get_xticklabels()] == ["6-6", "8-8"]
    assert [bar.get_height() for bar in depths.containers[0]] == pytest.approx([1.02, 4 * 1.02])


def papers_study(results: Path, source: str = "iwslt14", **changes: Any) -> Study:
    """A study with a model of the paper's size, but for `changes`, and its made-up measurements."""
    corpora = {"tiny": {"source": source}}
    run = {**RUN, **PAPERS, **changes}
    name = expand(validate(study_content(run, corpora=corpora), "study.yaml"))[0].id
    return measurements(results, rows=lambda part: rows_of(part, 512), run=run, name=name, corpora=corpora)


INITIAL = {"Post-LN, initial", "Pre-LN, initial"}


@pytest.mark.parametrize(
    ("changes", "beside"),
    [
        ({}, INITIAL),
        ({"warmup": 4000, "batch_tokens": 4096}, {*INITIAL, "Post-LN, after warm-up"}),
        ({"ffn_width": 2048}, set()),
        ({"source": "embedded"}, set()),
    ],
)
def test_the_papers_bars_stand_by_the_papers_models(changes: dict[str, Any], beside: set[str], tmp_path: Path) -> None:
    study = papers_study(tmp_path, **changes)
    assert ("the paper's bar" in texts(drawn("3", study, tmp_path))) == bool(beside)
    table = tabled("figure-3", study, tmp_path).full
    assert set(table[table["paper"].notna()]["model"]) == beside


def test_the_table_of_the_theory_sets_predictions_beside_measurements(tmp_path: Path) -> None:
    table = tabled("theory", measurements(tmp_path), tmp_path).full
    law = table[table["statement"] == "Theorem 1"].set_index(["quantity", "model"])
    depth = law.loc["exponent of the depth L"].loc["Pre-LN encoder, proofs"]
    assert (depth["measured"], depth["predicted"]) == (pytest.approx(-0.5), "-1/2")
    growth = table[table["statement"] == "Appendix F"].set_index("model")
    of_proofs = growth.loc["Post-LN encoder, proofs"]
    assert (of_proofs["measured"], of_proofs["predicted"]) == (pytest.approx(1.5), f"{math.sqrt(1.5):.3f}")
    assert growth.loc["Post-LN decoder, translation", "measured"] == pytest.approx(2.0)
    assert set(table["seeds"]) == {SEEDS}


def test_figure_3_in_numbers_has_the_papers_value_and_the_ratio(tmp_path: Path) -> None:
    table = tabled("figure-3", papers_study(tmp_path), tmp_path).full
    row = table[(table["figure"] == "3(b, c)") & (table["layer"] == 6)].set_index("model").loc["Post-LN, initial"]
    assert (row["paper"], row["known"]) == (1.658, "digitised")
    assert row["ratio"] == pytest.approx(1.02 / 1.658)
    # A variant is ours alone, but compared with the same bar.
    varied = table[(table["variant"] == "no-dropout") & (table["layer"] == 6) & (table["matrix"] == "W2")]
    assert set(varied["figure"]) == {""}
    assert varied["ratio"].notna().all()
    deeper = table[table["depth"] == 8]
    assert set(deeper["figure"]) == {"3(c)", "3(d)"}
    assert set(deeper["layer"]) == {8}


def with_squares(part: MeasurementJob) -> list[Measurement]:
    """The made-up measurements, with an unbiased norm of half of the biased one, and after the warm-up of a tenth."""
    rows = rows_of(part)
    for row in [row for row in rows if row.quantity == "expected_gradient_norm"]:
        norm = row.value * (0.1 if row.state == "after-warm-up" else 0.5)
        for quantity, value in {
            "gradient_square": norm**2,
            "gradient_square_error": 0.01 * norm**2,
            "gradient_noise": 3.0,
        }.items():
            rows.append(replace(row, quantity=quantity, value=value))
    return rows


def test_figure_3s_table_has_the_unbiased_norm_error_and_noise(tmp_path: Path) -> None:
    table = tabled("figure-3", measurements(tmp_path, rows=with_squares), tmp_path)
    where = {"model": "Post-LN, initial", "matrix": "W2", "variant": "", "depth": 6, "layer": 6}
    (initial,) = (row for row in table.full.to_dict("records") if where.items() <= row.items())
    # Seeds have factors of 1.01, 1.02 and 1.03: the root of their mean square, and its error over the seeds.
    squares = [(0.5 * factor) ** 2 for factor in (1.01, 1.02, 1.03)]
    assert initial["unbiased"] == pytest.approx(math.sqrt(sum(squares) / 3))
    error = pd.Series(squares).std() / math.sqrt(3)
    assert initial["unbiased_error"] == pytest.approx(error / (2 * initial["unbiased"]), rel=0.02)
    assert initial["noise"] == 3.0
    assert {"unbiased", "no-dropout, unbiased"} <= set(table.text["Variant"])


@pytest.mark.parametrize(
    ("square", "square_error", "norm", "error"),
    [(4.0, 0.4, 2.0, 0.1), (-0.01, 0.04, 0.0, 0.2)],
    ids=["a gradient", "one that noise hides"],
)
def test_one_seeds_error_is_of_its_mini_batches(square: float, square_error: float, norm: float, error: float) -> None:
    rows = {"gradient_square": square, "gradient_square_error": square_error, "gradient_noise": 1.0}
    table = pd.DataFrame([{"seed": 1, "quantity": quantity, "value": value} for quantity, value in rows.items()])
    gradient = theory_records.without_bias(table)
    assert (gradient.norm, gradient.noise) == (norm, 1.0)
    assert gradient.error == pytest.approx(error, rel=0.03)


def hidden(rows: list[Measurement], *places: tuple[str, int]) -> list[Measurement]:
    """The measurements with so large an error that noise hides the gradients in these states and layers."""
    errors = [row.quantity == "gradient_square_error" and (row.state, row.layer) in places for row in rows]
    return [replace(row, value=1e6) if large else row for row, large in zip(rows, errors, strict=True)]


@pytest.mark.parametrize(
    ("place", "quantity"),
    [
        (("initial", 1), "growth of the gradient of W^2 a layer, towards the output, unbiased"),
        (("after-warm-up", 6), "last gradient of W^2, after warm-up over initial, unbiased"),
    ],
)
def test_what_noise_hides_stays_in_the_table_unknown(place: tuple[str, int], quantity: str, tmp_path: Path) -> None:
    study = measurements(tmp_path, rows=lambda part: hidden(with_squares(part), place))
    table = tabled("theory", study, tmp_path).full
    of_decoder = table[(table["quantity"] == quantity) & table["model"].str.contains("decoder")]
    assert len(of_decoder)
    assert of_decoder["measured"].isna().all()


def test_a_seed_that_noise_hides_at_initialisation_has_no_collapse_and_the_others_have(tmp_path: Path) -> None:
    def rows(part: MeasurementJob) -> list[Measurement]:
        every = with_squares(part)
        first = [row for row in every if row.seed == 1]
        return [*hidden(first, ("initial", 6)), *(row for row in every if row.seed > 1)]

    table = tabled("theory", measurements(tmp_path, rows=rows), tmp_path).full.set_index("quantity")
    collapse = table.loc["last gradient of W^2, after warm-up over initial, unbiased"]
    assert (collapse["measured"], collapse["seeds"]) == (pytest.approx(0.2), 2)


def test_two_mini_batches_tell_no_error_and_their_square_is_taken_as_it_is() -> None:
    row = {"model": "translation", "seed": 1, "layer": 1}
    measured = pd.DataFrame([{**row, "quantity": "gradient_square", "value": 4.0}])
    assert theory_records.unbiased_gradients(measured)["value"].tolist() == [2.0]


@pytest.mark.slow
def test_figure_3_has_a_circle_without_bias_on_each_bar(tmp_path: Path) -> None:
    figure = drawn("3", measurements(tmp_path, rows=with_squares), tmp_path)
    assert "without the mini-batches' noise" in texts(figure)
    matrices = figure.axes[1]
    circles = [line for line in matrices.lines if line.get_marker() == "o"]
    assert len(circles) == len([bar for container in matrices.containers[:3] for bar in container])


def test_the_collapse_is_of_each_seed_and_stands_without_bias_too(tmp_path: Path) -> None:
    study = measurements(tmp_path, rows=with_squares)
    table = tabled("theory", study, tmp_path).full.set_index("quantity")["measured"]
    what = "last gradient of W^2, after warm-up over initial"
    assert table[f"{what}, biased"] == pytest.approx(1.0)
    assert table[f"{what}, unbiased"] == pytest.approx(0.2)


def test_a_seed_without_a_gradient_at_initialisation_has_no_collapse() -> None:
    """As in ReZero, which is the identity there."""
    norms = pd.DataFrame({
        **{"state": ["initial"] * 3 + ["after-warm-up"] * 3, "depth": [6] * 6},
        **{"seed": [1, 2, 3] * 2, "value": [0.0, 0.5, 0.5, 0.1, 0.1, 0.2]},
    })  # fmt: skip
    assert theory_tables._collapse(norms) == pytest.approx([0.2, 0.4])


def test_the_figure_of_variants_has_first_and_last_layer_at_the_least_depth(tmp_path: Path) -> None:
    study = measurements(tmp_path)
    drawing = drawn("variants", study, tmp_path)
    assert [axes.get_title() for axes in drawing.axes] == ["Post-LN", "Pre-LN"]
    rows = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    assert rows == ["as the study trains it", "no-dropout"]
    catalogue = Catalogue(study)
    gradients = values(catalogue.load(catalogue.figure("variants"), tmp_path))
    assert set(gradients["variant"]) == {"", "no-dropout"}
    # Gradients double with each of six layers, whatever the seed.
    varied = gradients[gradients["variant"] == "no-dropout"]
    bars = varied.pivot_table(index=["placement", "seed"], columns="end", values="value")
    assert (bars["last"] / bars["first"]).tolist() == pytest.approx([32.0] * len(bars))


def test_a_study_without_variants_does_not_have_their_figure() -> None:
    theory = {"seeds": 2, "gradients": {"runs": [NAME], "depths": [6]}}
    assert "variants" not in Catalogue(validate(study_content(RUN, theory=theory), "study.yaml")).figures
