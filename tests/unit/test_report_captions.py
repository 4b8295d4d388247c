"""The captions of the report are reStructuredText once their fields are filled in."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_string
from jinja2 import Environment, StrictUndefined

CAPTIONS = Path(__file__).parents[2] / "workflow" / "report"
CASES = [("workflow", ""), ("figure", "2"), ("figure", "4"), ("figure", "6"), ("figure", "3")]
CASES += [("figure", "theory"), ("figure", "gradients"), ("runs-table", ""), ("claims", "")]
CASES += [("theory-table", "theory"), ("theory-table", "figure-3"), ("figure", "5")]
CASES += [("pretraining-table", "pretraining"), ("pretraining-table", "finetuning")]
WILDCARDS = ("figure", "theory_table", "bert_table")


def caption(name: str, figure: str, paper: dict[str, bool]) -> str:
    template = Environment(undefined=StrictUndefined).from_string((CAPTIONS / f"{name}.rst").read_text())
    config = {"study": "quick", "description": "One line.", **paper}
    wildcards = SimpleNamespace(**dict.fromkeys(WILDCARDS, figure))
    return template.render(snakemake=SimpleNamespace(config=config, wildcards=wildcards))


@pytest.mark.parametrize(("name", "figure"), CASES)
@pytest.mark.parametrize("paper", [{"paper_settings": True}, {"paper_curves": True}, {}], ids=str)
def test_a_caption_is_valid_and_names_the_study(name: str, figure: str, paper: dict[str, bool]) -> None:
    text = caption(name, figure, paper)

    # A warning of docutils is an error here.
    publish_string(text, writer="html5", settings_overrides={"halt_level": 2, "report_level": 5})
    assert "quick" in text


@pytest.mark.parametrize(
    ("paper", "grey"), [({"paper_settings": True}, True), ({"paper_curves": True}, True), ({}, False)], ids=str
)
def test_a_caption_tells_of_the_papers_curves_where_they_are_drawn(paper: dict[str, bool], grey: bool) -> None:
    assert ("Grey lines are the paper's" in caption("figure", "4", paper)) == grey
    assert ("drawn in grey" in caption("workflow", "", paper)) == grey
