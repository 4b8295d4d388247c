"""The figure and the table of language models: what they take from the records."""

from pathlib import Path
from typing import Any

import pytest

from preln.config import Study, validate, write
from preln.jobs.kinds import KINDS
from preln.language.runs import expand
from preln.records.packed import pack
from preln.report.html import explorer, page
from tests.conftest import language_content
from tests.made_up.language import records_of
from tests.reading import charts, drawn, tabled

LOSSES = {"post": [8.0, 7.5, 7.2, 7.1], "pre": [7.0, 6.0, 5.5, 5.0]}


@pytest.fixture
def study() -> Study:
    return validate(language_content({"placement": ["post", "pre"]}, {"placement": "pre", "seed": 2}), "my.yaml")


@pytest.fixture
def results(study: Study, tmp_path: Path) -> Path:
    """Records of all runs, of which that of the second seed diverged at update 5."""
    for run in expand(study):
        diverged = 5 if run.settings.seed == 2 else None
        records_of(study, run, tmp_path, LOSSES[run.settings.placement][: 1 if diverged else 4], diverged)
    return tmp_path


def test_the_table_has_how_each_run_ended_beside_the_baseline(study: Study, results: Path) -> None:
    columns = ["placement", "seed", "status", "diverged_update", "final_valid_loss", "unigram_baseline"]
    table = tabled("language", study, results).full[columns]
    rows = table.astype(object).where(table.notna(), None)
    assert rows.to_numpy().tolist() == [
        ["post", 1, "finished", None, 7.1, 7.15],
        ["pre", 1, "finished", None, 5.0, 7.15],
        ["pre", 2, "diverged", 5, 7.0, 7.15],
    ]


def test_the_figure_has_the_curves_and_the_baseline(study: Study, results: Path) -> None:
    (curves,), drawing = charts("language", study, results), drawn("language", study, results)
    assert {"Post-LN", "Pre-LN"} <= {name.partition(",")[0] for name in curves.table["curve"]}
    (axes,), (legend,) = drawing.axes, drawing.legends
    assert "unigram baseline" in [text.get_text() for text in legend.get_texts()]
    assert axes.get_ylabel() == "Loss (bits/token)"


def test_the_last_losses_are_compared(study: Study, results: Path) -> None:
    numbers: Any = KINDS["language"].numbers
    values = numbers(study, expand(study), results)
    assert [(number.name, number.seed, number.value, number.diverged) for number in values] == [
        ("post-lr3e-3-const", 1, 7.1, False),
        ("pre-lr3e-3-const", 1, 5.0, False),
        ("pre-lr3e-3-const", 2, None, True),
    ]


def test_the_report_counts_the_models_and_their_hours(study: Study, results: Path) -> None:
    page.write(study, results, results / "report.html")
    assert "Language models: 3. They took" in (results / "report.html").read_text(encoding="utf-8")


def test_the_explorer_has_the_runs_of_a_map(study: Study, results: Path) -> None:
    folder = (results / study.study).rename(results / "language-map")
    write(study, folder / "study.yaml")
    pack(folder, {run.folder: run.records for run in expand(study)})
    content = explorer.content(results)
    assert content["controls"]["Text"] == ["Language model, tiny, bpe"]
    assert content["controls"]["Layers"] == ["2"]
    ends = [(run["loss"], run["diverged"], run["fails"], run["baseline"]) for run in content["runs"]]
    assert ends == [(7.1, None, True, 7.15), (5.0, None, False, 7.15), (None, 5, True, 7.15)]
    assert content["runs"][0]["x"] == [3, 6, 9, 12]
    assert content["runs"][0]["y"] == LOSSES["post"]
