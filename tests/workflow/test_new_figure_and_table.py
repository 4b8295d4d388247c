"""A figure and a table are added as docs/how-it-is-built.md says, with no other file touched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT, Workspace, copy_with_tests
from tests.workflow.recipes import blocks, section

STUDY = "iwslt14-theory"


@pytest.fixture
def clone(tmp_path: Path) -> Workspace:
    """A clone with the records of a committed study."""
    workspace = copy_with_tests(tmp_path / "preln")
    shutil.copytree(ROOT / "results" / STUDY, workspace.folder / "results" / STUDY)
    return workspace


@pytest.mark.slow
def test_a_figure_and_a_table_are_added_by_a_module_each(clone: Workspace) -> None:
    page = (ROOT / "docs" / "how-it-is-built.md").read_text(encoding="utf-8")
    steps = [step for heading in ("A figure", "A table") for step in blocks(section(page, heading))]
    for _, content, path in steps:
        if path:
            (clone.folder / path).write_text(content, encoding="utf-8")
    for kind, content, _ in steps:
        if kind == "sh":
            outcome = clone.run("bash", "-e", "-c", content)
            assert outcome.code == 0, outcome.output
    assert (clone.folder / "norms.pdf").read_bytes().startswith(b"%PDF")
    assert "Target tokens a second" in (clone.folder / "speed.md").read_text(encoding="utf-8")

    # The workflow makes them, and neither trains nor measures for it.
    outcome = clone.snakemake("--dry-run", "--configfile", f"results/{STUDY}/study.yaml")
    assert outcome.code == 0, outcome.output
    assert outcome.computed == set()
    assert "Draw figure norms" in outcome.output
    assert "Write the table speed" in outcome.output
