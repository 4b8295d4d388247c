"""Language models through real Snakemake: from text to figure and table, and what a clone computes."""

from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import MakeOnce, language_content
from tests.made_up.theory import language_theory
from tests.workflow.conftest import Workspace, run_once


@pytest.fixture(scope="module")
def trained(make_once: MakeOnce) -> Workspace:
    content = language_content({"placement": "post", "tokens": "bytes"}, {"placement": "pre"})
    return run_once(make_once, "trained language models", content)


@pytest.fixture
def again(trained: Workspace, tmp_path: Path) -> Workspace:
    return trained.copied(tmp_path / "the same again")


def test_a_study_of_language_models_has_its_figure_and_table(trained: Workspace) -> None:
    results = trained.folder / "results" / "tiny"
    names = {path.name for folder in ("figures", "tables") for path in (results / folder).iterdir()}
    assert names == {"figure-language.pdf", "figure-language.png", "language.csv", "language.md", "language.tex"}
    assert {path.name for path in (trained.folder / "resources" / "texts").glob("*/*") if path.is_dir()} == {
        *("text", "bpe", "tokens-bpe", "tokens-bytes")
    }


def test_a_clone_trains_nothing_that_is_recorded(again: Workspace) -> None:
    again.as_cloned()
    assert again.would_compute() == set()


def test_the_theory_of_language_models_has_its_figures_and_exponents(again: Workspace) -> None:
    again.write(language_theory())
    names = ["figures/figure-3.png", "figures/figure-gradients.png", "tables/theory.csv", "tables/figure-3.csv"]
    outcome = again.snakemake(*(f"results/tiny/{name}" for name in names))
    assert outcome.jobs == {"measure_theory": 8, "draw_figure": 2, "write_table": 2}
    results = again.folder / "results" / "tiny" / "tables"
    theory, figure = (pd.read_csv(results / f"{name}.csv") for name in ("theory", "figure-3"))
    exponents = theory[theory["id"] == "last-depth-exponent"]
    assert exponents["model"].tolist() == ["Post-LN decoder, language", "Pre-LN decoder, language"]
    assert set(figure["model"]) == {"Post-LN, initial", "Pre-LN, initial", "Post-LN, after warm-up"}
