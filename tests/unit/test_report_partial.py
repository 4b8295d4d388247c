"""A figure, a table and the page of a study say where only a part of its jobs is done."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from preln.commands.cli import app
from preln.errors import PrelnError
from tests.conftest import laid_out
from tests.refused import call, refused


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a study that lacks a run."""
    folder = tmp_path_factory.mktemp("results") / "quick"
    laid_out("quick-record", folder)
    shutil.rmtree(folder / "translation" / "pre-adam-lr3e-3-wu0-hold400-s1")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("table", "runs"), "12 of 13 jobs are done; the others may change what is shown."),
        (("table", "claims"), "31 of 32 jobs are done; the others may change what is shown."),
        (("figure", "4"), "8 of 9 jobs are done; the others may change what is shown."),
        (("report",), "31 of 32 jobs are done; the others may change what is shown."),
        (("table", "theory"), ""),
    ],
    ids=["table", "claims", "figure", "report", "all are done"],
)
def test_what_is_shown_says_how_many_of_its_jobs_are_done_where_not_all_are(
    command: tuple[str, ...], sentence: str, results: Path, tmp_path: Path
) -> None:
    name, *which = command
    suffix = {"table": "md", "figure": "png", "report": "html"}[name]
    out = tmp_path / f"out.{suffix}"
    outcome = CliRunner().invoke(app, [name, str(results), *which, "--out", str(out)])
    assert (outcome.exit_code, outcome.stderr.strip()) == (0, sentence)
    assert name != "table" or ("jobs are done; the others" in out.read_text()) == bool(sentence)


@pytest.mark.parametrize("command", [("report", "results/any"), ("explorer",)])
def test_a_page_takes_the_place_of_no_other_file(command: tuple[str, ...]) -> None:
    with refused(PrelnError, "--out config/mine.yaml: must end in .html"):
        call(*command, "--out", "config/mine.yaml")
