"""A followed workflow says what is being done and about how long the rest takes, from what Snakemake prints."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from filelock import FileLock
from rich.console import Console

from preln.commands.follow import Steps, View, run
from preln.config import validate
from preln.jobs.runs import expand
from tests.conftest import study_content
from tests.made_up.states import LINE, training

STATS = """\
Job stats:
job                  count
-----------------  -------
draw_figure              1
train_translation        3
default                  1
total                    5
""".splitlines()


def told(*lines: tuple[float, str]) -> Steps:
    """What is known after the lines, each printed at a time in seconds."""
    steps = Steps()
    for line in STATS:
        steps.read(line, 0.0)
    for now, line in lines:
        steps.read(line, now)
    return steps


def test_a_step_runs_from_its_line_until_it_is_finished() -> None:
    begun = told((1.0, "Job 7: Train post-s1"))
    assert begun.running == {7: ("Train post-s1", 1.0)}
    assert begun.read("Finished jobid: 7 (Rule: train_translation)", 5.0) == (True, "Train post-s1")
    assert (begun.done, begun.of, begun.running) == (1, 5, {})


def test_a_step_that_failed_runs_no_longer() -> None:
    assert told((1.0, "Job 7: Train post-s1"), (2.0, "Error in rule train:"), (2.0, "    jobid: 7")).running == {}


def test_other_lines_change_nothing() -> None:
    for line in ("Reason: Missing output files: run.json", "Select jobs to execute...", "", "1 of 5 steps (20%) done"):
        assert told((1.0, line)) == told()


def test_the_time_left_is_that_of_like_steps_over_those_that_run_at_once() -> None:
    steps = told(
        (0.0, "Job 1: Draw figure 2"),
        (2.0, "Finished jobid: 1 (Rule: draw_figure)"),
        (2.0, "Job 2: Train post-s1"),
        (2.0, "Job 3: Train post-s2"),
        (102.0, "Finished jobid: 2 (Rule: train_translation)"),
        (102.0, "Job 4: Train post-s3"),
    )
    # Two trainings of 100 seconds, of which one has run for 100 and the other for 20.
    assert steps.seconds_left(122.0) == pytest.approx((2 * 100 - 120 - 20) / 2)


def test_a_target_makes_nothing_that_takes_time_also_under_the_name_that_a_module_gives_it() -> None:
    steps = Steps()
    for line in ("preln_train_translation  2", "preln_all  1", "total  3", "Job 1: Train post-s1"):
        steps.read(line, 0.0)
    steps.read("Finished jobid: 1 (Rule: preln_train_translation)", 100.0)
    steps.read("Job 2: Train post-s2", 100.0)
    assert steps.seconds_left(130.0) == pytest.approx(70.0)


def test_the_workflow_says_where_the_results_of_a_study_are() -> None:
    steps = Steps()
    steps.read("Results of mine: a prefix/results/mine", 0.0)
    assert steps.results == {"mine": Path("a prefix/results/mine")}


def test_the_time_left_is_not_known_before_a_step_of_each_rule_is_done() -> None:
    assert told((0.0, "Job 2: Train post-s1")).seconds_left(10.0) is None


def test_a_second_run_of_a_study_leaves_the_log_of_the_first_alone(tmp_path: Path) -> None:
    study, log = validate(study_content(), "my.yaml"), tmp_path / "logs" / "snakemake.log"
    log.parent.mkdir()
    first = FileLock(log.with_name(f".{log.name}.lock"))
    first.acquire()
    log.write_text("the first's\n")
    run(study, ["--version"], log)
    assert log.read_text() == "the first's\n"
    (other,) = set(log.parent.glob("*.log")) - {log}
    assert other.read_text().strip()
    first.release()
    run(study, ["--version"], log)
    assert log.read_text() == other.read_text()


def test_a_running_training_has_a_bar_and_its_time_left(tmp_path: Path) -> None:
    study = validate(study_content({"epochs": 4}), "my.yaml")
    (run,) = expand(study)
    now = time.time()
    training(tmp_path / run.folder, LINE, written=now)
    steps = Steps(results={study.study: tmp_path})
    for line in (*STATS, f"Job 1: Train {run.id}", "Job 2: Draw figure 2"):
        steps.read(line, now)
    # Without colours, of a bar only what is filled is drawn.
    terminal = Console(file=io.StringIO(), force_terminal=True, no_color=True, width=200)
    with terminal.capture() as shown:
        terminal.print(View(study, steps)())
    head, of_training, of_drawing = shown.get().splitlines()
    assert head.startswith("0 of 5 steps done in 0:00:0")
    # An epoch and a half of four, at 50 seconds an epoch.
    assert of_training.split()[2:5] == ["━━━━╸", "0:02:05", "left"]
    assert of_drawing.split()[:4] == ["Draw", "figure", "2", "since"]
