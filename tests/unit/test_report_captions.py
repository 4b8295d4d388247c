"""What the report says of figures and tables is plain text, which Snakemake's report reads as reStructuredText."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils.core import publish_string
from jinja2 import Environment, StrictUndefined

from preln.report.catalogue import FIGURES, TABLES

CAPTIONS = Path(__file__).parents[2] / "workflow" / "report"
ENTRIES = [*FIGURES.values(), *TABLES.values()]


def rendered(name: str, **snakemake: Any) -> str:
    """The text of one of Snakemake's files, which is valid: a warning of docutils is an error here."""
    template = Environment(undefined=StrictUndefined).from_string((CAPTIONS / name).read_text())
    text = template.render(snakemake=SimpleNamespace(**snakemake))
    publish_string(text, writer="html5", settings_overrides={"halt_level": 2, "report_level": 5})
    return text


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{type(entry).__name__}-{entry.name}")
def test_a_caption_is_plain_text(entry: Any) -> None:
    text = rendered("caption.rst", params=SimpleNamespace(caption=entry.caption))
    html = publish_string(text, writer="html5").decode()
    assert "<em>" not in html and "<strong>" not in html and "<cite>" not in html


@pytest.mark.parametrize(
    ("paper", "grey"), [({"paper_settings": True}, True), ({"paper_curves": True}, True), ({}, False)], ids=str
)
def test_the_workflows_text_tells_of_the_papers_curves_where_they_are_drawn(paper: dict[str, bool], grey: bool) -> None:
    text = rendered("workflow.rst", config={"study": "quick", "description": "One line.", **paper})
    assert "quick" in text
    assert ("drawn in grey" in text) == grey
