"""What the report says of figures and tables is plain text, which Snakemake's report reads as reStructuredText."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils.core import publish_string
from jinja2 import Environment, StrictUndefined

from preln.report.catalogue import FIGURES, TABLES

CAPTION = Path(__file__).parents[2] / "workflow" / "report" / "caption.rst"
ENTRIES = [*FIGURES.values(), *TABLES.values()]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{type(entry).__name__}-{entry.name}")
def test_a_caption_is_plain_text(entry: Any) -> None:
    snakemake = SimpleNamespace(params=SimpleNamespace(caption=entry.caption))
    text = Environment(undefined=StrictUndefined).from_string(CAPTION.read_text()).render(snakemake=snakemake)
    # A warning of docutils is an error here.
    strict = {"halt_level": 2, "report_level": 5}
    html = publish_string(text, writer="html5", settings_overrides=strict).decode()
    assert "<em>" not in html and "<strong>" not in html and "<cite>" not in html
