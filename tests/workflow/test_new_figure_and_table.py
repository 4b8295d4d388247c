"""A figure and a table are added as docs/extending.md says, with no other file touched."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.workflow.conftest import ROOT, Workspace, copy_repository

STUDY = "iwslt14-theory"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def clone(tmp_path: Path) -> Workspace:
    """A clone with the records of a committed study."""
    workspace = copy_repository(tmp_path / "preln")
    for name in ("tests", f"results/{STUDY}"):
        shutil.copytree(ROOT / name, workspace.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", workspace.folder)
    return workspace


def test_a_figure_and_a_table_are_added_by_a_module_each(clone: Workspace) -> None:
    document = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(document[document.index("## A figure") :])
    for kind, content in blocks:
        if kind == "python":
            name, code = content.removeprefix("# ").split("\n", maxsplit=1)
            (clone.folder / name).write_text(code, encoding="utf-8")
    for kind, content in blocks:
        if kind == "sh":
            outcome = clone.run("bash", "-e", "-c", content)
            assert outcome.code == 0, outcome.output
    assert (clone.folder / "norms.pdf").read_bytes().startswith(b"%PDF")
    assert "Target tokens a second" in (clone.folder / "speed.md").read_text(encoding="utf-8")

    # The workflow makes them, and neither trains nor measures for it.
    outcome = clone.snakemake("--dry-run", "--configfile", f"results/{STUDY}/study.yaml")
    assert outcome.code == 0, outcome.output
    assert not outcome.jobs.keys() & {"train_translation", "measure_theory"}
    assert "Draw figure norms" in outcome.output
    assert "Write the table speed" in outcome.output
