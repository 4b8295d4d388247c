"""What a study ends in, and what is made again when code changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from preln.config import Study, validate
from preln.report import figures, products
from preln.runs import Run, expand
from tests.conftest import study_content

MODULES = [
    *("translation.figure_2", "theory.figure_3", "pretraining.figure_5"),
    *("translation.tables", "theory.tables", "pretraining.tables"),
    *("claims.ledger", "html.page"),
]


def study(**sections: Any) -> tuple[Study, list[Run]]:
    content = validate(study_content({"figures": [4, 2]}, **sections), "my.yaml")
    return content, expand(content)


def test_the_figures_are_those_of_the_runs_and_sections() -> None:
    assert products.figures(*study()) == ["2", "4"]
    assert products.figures(*study(theory={})) == ["2", "4", "theory"]


def test_every_figure_of_the_theory_that_is_named_can_be_drawn() -> None:
    assert set(products.FIGURES_OF_THEORY) == figures.OF_THEORY.keys()


@pytest.mark.parametrize(
    ("changes", "other"),
    [
        ({"description": "Another line."}, True),
        ({"paper_curves": True}, True),
        ({"paper_settings": True}, True),
        ({"execution": {"cpus": 2}}, False),
    ],
    ids=str,
)
def test_what_is_described_otherwise_is_other_content(changes: dict[str, Any], other: bool) -> None:
    before, runs = study()
    after, _ = study(**changes)
    assert (products.content(before, runs) != products.content(after, runs)) == other


@pytest.mark.parametrize("module", MODULES)
def test_all_code_of_the_report_and_the_theory_that_a_module_loads_is_followed(module: str) -> None:
    script = f"import sys, preln.report.{module}; print(*sys.modules, sep=chr(10))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    followed = ("preln.report.", "preln.theory.", "preln.placements.", "preln.schedules.")
    mine = [name.replace(".", "/") for name in loaded if name.startswith(followed)]
    source = Path(products.__file__).parents[2]
    files = {file for name in mine if (file := source / f"{name}.py").exists()}
    assert files <= set(products.code(module))


def test_data_beside_a_module_is_followed_and_other_figures_are_not() -> None:
    names = {path.name for path in products.code("translation.figure_2")}
    assert "translation.csv" in names
    assert not names & {"figure_4.py", "gradients.csv"}
