"""A shell completes commands without heavy imports, and the command line refuses what it does not know."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from preln.commands.cli import app
from preln.commands.plan import GPUS
from preln.config import validate, write
from preln.errors import PrelnError
from tests.conftest import ROOT, RUN, bert_content, study_content
from tests.refused import refused


def asked(command: str) -> dict[str, str]:
    """The environment in which bash asks for the end of a command's last word."""
    return {"_PRELN_COMPLETE": "complete_bash", "COMP_WORDS": command, "COMP_CWORD": str(command.count(" "))}


def completed(command: str) -> list[str]:
    outcome = CliRunner().invoke(app, [], env=asked(command), prog_name="preln")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return outcome.stdout.split()


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results with nothing but its study."""
    content = {**bert_content(), **study_content({"seed": [1, 2]}, first_updates={"settings": RUN, "runs": [{}]})}
    monkeypatch.chdir(tmp_path)
    write(validate(content, "my.yaml"), Path("results/tiny/study.yaml"))
    return Path("results/tiny")


@pytest.mark.slow
def test_what_a_program_reads_is_utf_8_whatever_the_locale() -> None:
    variables = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    command = [sys.executable, "-m", "preln", "summary", "results/quick-record"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "–" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("preln translate results/tiny/study.yaml pre-a", ["pre-adam-lr2e-3-wu10-s1", "pre-adam-lr2e-3-wu10-s2"]),
        ("preln translate results/tiny pre-adam-lr2e-3-wu10-s1 x", []),
        (
            "preln export results/tiny --to csv ",
            ["pre-adam-lr2e-3-wu10-s1", "pre-adam-lr2e-3-wu10-s2", "pre-lr2e-3-wu0-s1"],
        ),
        ("preln figure results/tiny pre", ["pretraining"]),
        ("preln table results/tiny first", ["first-updates"]),
        ("preln plan --gpu rtx", [name for name in GPUS if name.startswith("rtx")]),
    ],
)
def test_names_are_completed(command: str, words: list[str], results: Path) -> None:
    assert completed(command) == words


def test_of_results_that_cannot_be_read_nothing_is_offered_and_nothing_said(results: Path) -> None:
    assert completed("preln export results/none ") == []
    for wrong in ("study: [", "study: tiny\nepocs: 3\n"):
        (results / "study.yaml").write_text(wrong, encoding="utf-8")
        assert completed(f"preln export {results} ") == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["figure", "export", "plan --gpu a100"])
def test_nothing_that_trains_or_draws_is_imported_for_it(command: str, results: Path) -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from preln.commands.cli import app; "
        f"CliRunner().invoke(app, [], env={asked(f'preln {command} {results} ')}, prog_name='preln'); "
        "print(*sys.modules)"
    )
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "preln.commands.completion" in modules
    assert not {"torch", "fairseq", "matplotlib", "pandas", "numpy"} & set(modules)


@pytest.mark.parametrize("value", ["execution.gpus=0", "gpus"])
def test_a_value_for_snakemake_that_names_no_key_is_refused_with_the_form(value: str, results: Path) -> None:
    with refused(PrelnError, f"--config {value}: ", "KEY=VALUE", "'execution={gpus: 0}'"):
        app(["run", str(results / "study.yaml"), "--", "--config", value], standalone_mode=False)


def test_a_file_of_sentences_that_is_not_there_is_named() -> None:
    with refused(PrelnError, "--file nosuch.de"):
        app(["translate", "results/mine", "a-run", "--file", "nosuch.de"], standalone_mode=False)
