"""The figure of figure 3's variants: a row for each, with the bars of the first and the last layer."""

from __future__ import annotations

from pathlib import Path

import pytest

from preln.config import Study
from preln.report.catalogue import Catalogue
from preln.theory.report.figure_variants import values
from tests.made_up.theory import rows_of, small_study, write_part
from tests.reading import drawn


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made, parts = small_study()
    for part in parts:
        write_part(made, part, rows_of(part), tmp_path)
    return made


def test_it_has_the_first_and_the_last_layer_of_each_variant_at_the_least_depth(study: Study, tmp_path: Path) -> None:
    catalogue = Catalogue(study)
    gradients = values(catalogue.load(catalogue.figure("variants"), tmp_path))
    assert set(gradients["variant"]) == {"", "no-dropout"}
    # Gradients double with each of six layers, whatever the seed.
    bars = gradients[gradients["variant"] == "no-dropout"].pivot_table(
        index=["placement", "seed"], columns="end", values="value"
    )
    assert (bars["last"] / bars["first"]).tolist() == pytest.approx([32.0] * len(bars))


def test_each_placement_has_a_panel_with_a_row_for_each_variant(study: Study, tmp_path: Path) -> None:
    drawing = drawn("variants", study, tmp_path)
    rows = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    assert rows == ["as the study trains it", "no-dropout"]
    assert [axes.get_title() for axes in drawing.axes] == ["Post-LN", "Pre-LN"]


def test_a_study_without_variants_does_not_have_it() -> None:
    made, _ = small_study()
    assert made.theory is not None and made.theory.gradients is not None
    plain = made.theory.gradients.model_copy(update={"variants": ()})
    theory = made.theory.model_copy(update={"gradients": plain})
    assert "variants" not in Catalogue(made.model_copy(update={"theory": theory})).figures
