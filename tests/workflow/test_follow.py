"""`preln run` shows how far the workflow is, and what it found; what Snakemake says is in a file."""

import os
import pty
from typing import Any

import pytest

from preln.commands.follow import NOTHING, STOPPED
from preln.config import load
from preln.corpora import data
from preln.translation.runs import expand
from tests.moments import NewHold, in_epoch
from tests.workflow.conftest import ADDED, Workspace


@pytest.fixture
def without_a_table(again: Workspace) -> Workspace:
    """A finished study, one of whose tables is gone."""
    for form in ("csv", "md", "tex"):
        (again.folder / "results" / "tiny" / "tables" / f"runs.{form}").unlink()
    return again


def test_where_there_is_no_terminal_a_step_has_a_line_as_it_begins_and_one_when_it_is_done_and_the_finding_comes_last(
    without_a_table: Workspace,
) -> None:
    command = ("preln", "run", "config/config.yaml", "--cores", "2")
    plan = without_a_table.run(*command, "--", "--dry-run")
    assert "Reason: Missing output files" in plan.output, "a plan that is asked for is shown"
    outcome = without_a_table.run(*command)
    lines = outcome.output.splitlines()
    first = next(number for number, line in enumerate(lines) if not line.startswith(("Begin: ", "[")))
    steps, finding = lines[:first], lines[first:]
    begun = steps.index("Begin: Write the table runs")
    assert any("] Done: Write the table runs" in line for line in steps[begun:])
    assert "The paper's claims that it can judge:" in finding
    assert finding[-2] == "All of it on one page: results/tiny/report.html"
    log = without_a_table.folder / "logs" / "tiny" / "snakemake.log"
    assert "Reason: Missing output files" in log.read_text(encoding="utf-8")
    again = without_a_table.run(*command)
    assert again.output.splitlines() == [NOTHING, *finding]


def test_a_target_is_made_and_what_its_preparation_noted_is_said_once(again: Workspace) -> None:
    pairs = data.pairs()[:600]
    corpus: dict[str, Any] = {"source": "files", "source_language": "de", "target_language": "en", "vocabulary": 400}
    # A half of valid is not translated.
    for name, part in (
        ("train", pairs[100:]),
        ("valid", [(source, "" if number % 2 else target) for number, (source, target) in enumerate(pairs[:100])]),
    ):
        corpus[name] = {"source": f"{name}.de", "target": f"{name}.en"}
        for side, file in enumerate(corpus[name].values()):
            (again.folder / file).write_text("".join(f"{pair[side]}\n" for pair in part), encoding="utf-8")
    again.write_study({"seed": 1}, corpora={"tiny": {**corpus, "held_out": 20}})
    outcome = again.run("preln", "run", "config/config.yaml", "--cores", "2", "prepared")
    assert outcome.output.count("valid.de, valid.en: of 100 pairs for valid, left out: 50 with an empty side") == 1


def test_a_terminal_shows_what_is_being_done(without_a_table: Workspace) -> None:
    main, terminal = pty.openpty()
    process = without_a_table.start("preln", "run", "config/config.yaml", "--cores", "2", terminal=terminal)
    os.close(terminal)
    seen = b""
    try:
        while part := os.read(main, 1 << 16):
            seen += part
    # At the end of the process.
    except OSError:
        pass
    os.close(main)
    assert process.wait() == 0, seen
    assert b" steps done in 0:00:" in seen
    assert b"Write the table runs" in seen


def test_a_request_to_end_ends_the_workflow_and_trainings_and_leaves_no_lock(again: Workspace, hold: NewHold) -> None:
    again.write_study(ADDED)
    # The background job of a script ignores SIGINT.
    command = "trap '' INT; exec preln run config/config.yaml --cores 2"
    process = again.start("sh", "-c", command, hold=(here := hold(in_epoch(1))))
    here.wait(process)
    process.terminate()
    # All that it began holds this pipe.
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0, output
    assert output.splitlines()[-1] == STOPPED
    (run,) = expand(load(again.folder / "results" / "tiny" / "study.yaml"))
    record = f"results/tiny/{run.folder}/metrics.json"
    assert not (again.folder / record).exists()
    assert again.snakemake("--rerun-incomplete", record).jobs == {"train_translation": 1}


def test_a_workflow_that_fails_says_why_and_where_the_log_is(without_a_table: Workspace) -> None:
    command = ("preln", "run", "config/config.yaml", "--cores", "2", "--no-such-option")
    outcome = without_a_table.run(*command, fails=True)
    assert outcome.code == 2
    assert "--no-such-option" in outcome.output
    assert outcome.output.splitlines()[-1] == "The workflow failed; all that it said is in logs/tiny/snakemake.log"
