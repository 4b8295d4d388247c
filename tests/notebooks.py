"""The notebook, run as a reader runs it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.conftest import ROOT

NOTEBOOK = ROOT / "notebooks" / "study.ipynb"
RECORDS = "results/quick-record"


def execute(results: Path, jupyter: Path) -> NotebookNode:
    """The notebook, executed on a study's results from a folder beside theirs; Jupyter's settings are another."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (requirements-notebook.txt)")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert f'"../{RECORDS}"' in first.source
    first.source = first.source.replace(RECORDS, f"results/{results.name}")
    folder = results.parents[1] / "notebooks"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # The user's kernels, of which one may be named python3 too, and the user's settings of IPython.
        for name in ("JUPYTER_PATH", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(jupyter / name))
        where = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(notebook, timeout=1200, kernel_name="python3", resources=where).execute()
    return notebook


def shown(notebook: NotebookNode, kind: str) -> list[str]:
    """What the cells show of a kind, in their order."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [str(output.data[kind]) for output in outputs if kind in output.get("data", {})]
