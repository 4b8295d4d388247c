"""The notebook runs from top to bottom on a study's records, and shows what it says."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tests.conftest import ROOT

NOTEBOOK = ROOT / "notebooks" / "study.ipynb"
RECORDS = "results/quick-record"


def shown(notebook: NotebookNode, kind: str) -> list[str]:
    """The outputs of a kind in the cells, in their order."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [str(output.data[kind]) for output in outputs if kind in output.get("data", {})]


def test_it_is_kept_without_what_it_shows() -> None:
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        assert cell.cell_type == "markdown" or (cell.outputs == [] and cell.execution_count is None)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> tuple[NotebookNode, Path]:
    """The notebook, executed beside a copy of the records, and its folder."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (requirements-notebook.txt)")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    clone, jupyter = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("jupyter")
    shutil.copytree(ROOT / RECORDS, clone / RECORDS, ignore=shutil.ignore_patterns("report.html"))
    folder = clone / "notebooks"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        # The user's kernels, of which one may be named python3 too, and the user's settings of IPython.
        for name in ("JUPYTER_PATH", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(jupyter / name))
        where = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(notebook, timeout=1200, kernel_name="python3", resources=where).execute()
    return notebook, folder


@pytest.mark.slow
def test_it_draws_figures_shows_the_papers_numbers_and_ends_at_the_report(executed: tuple[NotebookNode, Path]) -> None:
    notebook, folder = executed
    assert len(shown(notebook, "image/png")) == 2
    assert (folder / "figure-4.png").exists()
    *_, ledger, report = shown(notebook, "text/html")
    for part in ("<th>paper</th>", "<th>ours</th>", "8.45", "points that way"):
        assert part in ledger
    assert 'src="report.html"' in report
    assert "quick-record" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_nothing_it_does_warns(executed: tuple[NotebookNode, Path]) -> None:
    notebook, _ = executed
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    said = "".join(output.text for output in outputs if output.get("name") == "stderr")
    # Jupyter's own parts may say more there.
    assert not re.search(r"Warning|preln|pandas", said), said
