"""Figures and tables: the records that they are made from, their words without these, and the code that they follow."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from preln.config import Study, load, validate
from preln.errors import PrelnError
from preln.report import catalogue
from preln.report.catalogue import FIGURES, TABLES, Catalogue, code_version
from preln.translation.runs import Run, expand
from tests.conftest import ROOT, language_content, study_content


def study(**sections: Any) -> tuple[Study, list[Run]]:
    made = validate(study_content({"figures": [4, 2]}, **sections), "my.yaml")
    return made, expand(made)


def test_a_figure_is_made_from_the_records_of_the_jobs_that_it_shows() -> None:
    made, runs = study()
    shown = Catalogue(made)
    second = {"placement": "post", "figures": [6]}
    two = Catalogue(validate(study_content({"figures": [4]}, second), "my.yaml"))

    expected = [f"translation/{run.id}/{name}" for run in runs for name in ("run.json", "curve.csv", "metrics.json")]
    assert shown.records(FIGURES["4"]) == expected
    assert not set(two.records(FIGURES["4"])) & set(two.records(FIGURES["6"]))
    assert {*two.records(FIGURES["4"]), *two.records(FIGURES["6"])} == set(two.records(FIGURES["runs"]))


@pytest.mark.parametrize("kind", ["figure", "table"])
def test_what_a_study_has_not_is_refused_with_what_it_has(kind: str) -> None:
    of_study = getattr(Catalogue(study()[0]), kind)
    with pytest.raises(PrelnError, match=rf"^{kind} theory: study \w+ has nothing that it shows; allowed: .*runs"):
        of_study("theory")
    with pytest.raises(PrelnError, match=rf"^{kind} colours: not known; allowed: .*runs"):
        of_study("colours")
    with pytest.raises(PrelnError, match=rf"^{kind} {kind}-runs: not known \(did you mean runs\?\)"):
        of_study(f"{kind}-runs")


@pytest.fixture(scope="module")
def catalogues() -> list[Catalogue]:
    """Studies that have every figure and every table between them."""
    names = ("config", "iwslt14-theory", "placements", "failure-map", "language-bench", "language-map")
    committed = [load(ROOT / "config" / f"{name}.yaml") for name in names]
    return list(map(Catalogue, [*committed, validate(language_content(), "my.yaml")]))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_nothing_is_not_drawn_and_says_why(name: str, catalogues: list[Catalogue], tmp_path: Path) -> None:
    catalogue = next(candidate for candidate in catalogues if name in candidate.figures)
    study, figure, records = catalogue.study, FIGURES[name], catalogue.load(FIGURES[name], tmp_path)
    with pytest.raises(PrelnError, match=f"figure {name}: nothing that it shows is done yet; run the workflow"):
        figure.write(study, records, [tmp_path / "figure.pdf"])
    assert figure.curves(study, records) == []


@pytest.mark.parametrize("name", TABLES)
def test_a_table_with_nothing_done_says_so(name: str, catalogues: list[Catalogue], tmp_path: Path) -> None:
    catalogue = next(candidate for candidate in catalogues if name in candidate.tables)
    out = [tmp_path / f"table.{suffix}" for suffix in ("csv", "md", "tex")]
    TABLES[name].write(catalogue.study, catalogue.load(TABLES[name], tmp_path), out)
    assert out[0].exists()
    for path in out[1:]:
        assert re.search(r"\b0 of|\bno finished|\bnone of|\b0 comparisons|not tested", path.read_text())


@pytest.mark.parametrize(
    "change", [{"description": "Another line."}, {"paper_curves": True}, {"paper_settings": True}], ids=str
)
def test_what_is_described_otherwise_is_other_content(change: dict[str, Any]) -> None:
    before, runs = study()
    after, _ = study(**change)
    assert Catalogue(before).content(runs) != Catalogue(after).content(runs)


def test_the_order_of_the_jobs_is_content_for_the_first_is_what_others_are_compared_with() -> None:
    made = validate(study_content({"placement": "post"}, {"placement": "pre"}), "my.yaml")
    runs = expand(made)
    assert Catalogue(made).content(runs) != Catalogue(made).content(runs[::-1])


def test_changed_code_or_data_of_the_report_redraws_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "preln"
    shutil.copytree(catalogue._SOURCE, copy)
    monkeypatch.setattr(catalogue, "_SOURCE", copy)
    versions = [code_version.__wrapped__()]
    for changed in ("theory/measurements.py", "report/html/page.css"):
        (copy / changed).write_text((copy / changed).read_text() + "\n")
        versions.append(code_version.__wrapped__())
    assert len(set(versions)) == len(versions)
    (copy / "training" / "state.py").write_text("")
    assert code_version.__wrapped__() == versions[-1]
