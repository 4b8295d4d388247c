"""A followed workflow says what is being done and about how long the rest takes, from Snakemake's events."""

import errno
import fcntl
import io
import os
import re
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from filelock import FileLock
from rich.console import Console

from preln.commands import follow
from preln.commands.cli import app
from preln.commands.follow import Step, Steps, View, run
from preln.config import validate
from preln.fused import native
from preln.translation.runs import expand
from tests.conftest import ROOT, study_content
from tests.made_up.states import LINE, training
from tests.refused import names, refusal

STATS = {"event": "run_info", "stats": {"draw_figure": 1, "train_translation": 3, "default": 1, "total": 5}}


def begun(number: int, rule: str, message: str | None, time: float) -> dict[str, Any]:
    """The event of a job that begins."""
    return {"event": "job_info", "jobid": number, "rule_name": rule, "rule_msg": message, "time": time}


def train(number: int, time: float) -> dict[str, Any]:
    """The event of a training that begins."""
    return begun(number, "train_translation", f"Train post-s{number}", time)


def finished(number: int, time: float) -> dict[str, Any]:
    """The event of a job that is done."""
    return {"event": "job_finished", "job_id": number, "time": time}


def after(*events: dict[str, Any]) -> Steps:
    steps = Steps()
    for event in events:
        steps.take(event)
    return steps


def test_a_step_runs_from_its_event_until_it_is_finished_or_fails() -> None:
    steps = after(STATS, train(7, 1.0))
    assert steps.running == {7: Step("train_translation", "Train post-s7", 1.0)}
    assert steps.take(finished(7, 5.0)) == (True, "Train post-s7")
    assert (steps.done, steps.total, steps.running) == (1, 5, {})
    assert after(STATS, train(7, 1.0), {"event": "job_error", "jobid": 7}).running == {}
    # A rule may have no message.
    assert steps.take(begun(1, "plot", None, 0.0)) == (False, "plot")


def test_the_time_left_is_that_of_like_steps_over_those_that_run_at_once() -> None:
    drawn = [begun(1, "draw_figure", "Draw figure 2", 0.0), finished(1, 2.0)]
    steps = after(STATS, *drawn, train(2, 2.0), train(3, 2.0))
    assert steps.seconds_left(10.0) is None, "no training is done"
    for event in (finished(2, 102.0), train(4, 102.0)):
        steps.take(event)
    # Two trainings of 100 seconds, of which one has run for 100 and the other for 20.
    assert steps.seconds_left(122.0) == pytest.approx((2 * 100 - 120 - 20) / 2)


def test_a_target_makes_nothing_that_takes_time_also_under_the_name_that_a_module_gives_it() -> None:
    stats = {"preln_train_translation": 2, "preln_all": 1, "total": 3}
    first, second = (begun(number, "preln_train_translation", "Train", now) for number, now in ((1, 0.0), (2, 100.0)))
    steps = after({"event": "run_info", "stats": stats}, first, finished(1, 100.0), second)
    assert steps.seconds_left(130.0) == pytest.approx(70.0)
    assert steps.take(begun(3, "preln_all", None, 130.0)) is None


@pytest.mark.slow
def test_a_second_run_of_a_study_leaves_the_log_of_the_first_alone(tmp_path: Path) -> None:
    study, log = validate(study_content(), "my.yaml"), tmp_path / "logs" / "snakemake.log"
    log.parent.mkdir()
    first = FileLock(log.with_name(f".{log.name}.lock"))
    first.acquire()
    log.write_text("the first's\n")
    run(study, ["--version"], log, tmp_path)
    assert log.read_text() == "the first's\n"
    (other,) = set(log.parent.glob("*.log")) - {log}
    assert other.read_text().strip()
    first.release()
    run(study, ["--version"], log, tmp_path)
    assert log.read_text() == other.read_text()


@pytest.mark.slow
def test_each_modules_notices_are_printed_once_and_the_results_are_those_of_the_study(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    study = validate(study_content(), "my.yaml")
    (tmp_path / "Snakefile").write_text(
        f"""
from snakemake.logging import logger

for study in ("another", "{study.study}"):
    places = {{"study": study, "results": f"{{study}}/results", "replaced": [f"Records of {{study}}"]}}
    logger.info("Results", extra=places)

rule all:
    shell: ":"
""",
        encoding="utf-8",
    )
    assert run(study, ["--cores", "1"], tmp_path / "snakemake.log", tmp_path) == (0, Path(study.study, "results"))
    printed = capfd.readouterr().out.splitlines()
    assert [line for line in printed if line.startswith("Records")] == [
        "Records of another",
        f"Records of {study.study}",
    ]


@pytest.mark.parametrize("answer", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_said(answer: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(study_content({"seed": 1})), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fcntl, "flock", mock.Mock(side_effect=OSError(answer, os.strerror(answer))))
    message = refusal("run", "tiny.yaml")
    assert re.match(rf"preln: {tmp_path}: .*: its file system has no locks,.* mount it with them", message), message


def test_a_running_training_has_its_label_a_bar_its_score_and_its_time_left(tmp_path: Path) -> None:
    study = validate(study_content({"epochs": 4}), "my.yaml")
    (run,) = expand(study)
    now = time.time()
    training(tmp_path / run.folder, LINE, written=now)
    steps = after(
        {"event": "results", "study": study.study, "results": str(tmp_path)},
        STATS,
        begun(1, "train_translation", f"Train {run.id}", now),
        # A label of one's own may look like markup.
        begun(2, "draw_figure", "Draw [/figure] 2", now),
    )
    # Without colours, of a bar only what is filled is drawn.
    terminal = Console(file=io.StringIO(), force_terminal=True, no_color=True, width=200)
    with terminal.capture() as shown:
        terminal.print(View(study, steps)())
    head, of_training, of_drawing = shown.get().splitlines()
    assert head.startswith("0 of 5 steps done in 0:00:0")
    # An epoch and a half of four, at 50 seconds an epoch.
    assert of_training.split()[:5] == ["Train", "Pre-LN,", "seed", "1", "━━━━╸"]
    assert "train 7.50, valid 8.00, BLEU 1.25  0:02:05 left" in of_training
    assert of_drawing.split()[:4] == ["Draw", "[/figure]", "2", "since"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["plan", "run"])
def test_where_the_loops_are_missing_the_first_line_says_so_and_how_to_build_them(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "_LIBRARY", None)
    monkeypatch.chdir(tmp_path)
    for name, gpus in (("cpu", 0), ("gpu", 1)):
        content = study_content({}) | {"execution": {"gpus": gpus}}
        Path(f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
        options = [] if command == "plan" else ["--", "--version"]
        app([command, f"{name}.yaml", *options], standalone_mode=False)
        first = capfd.readouterr().out.splitlines()[0]
        assert names(first, "compiled loops", "missing", "C++ compiler", f"--editable {ROOT}") == (name == "cpu"), first


@pytest.mark.parametrize("mark", [[], ["--"]], ids=["", "after --"])
@pytest.mark.parametrize(
    ("options", "folder"),
    [
        (["--directory=there", "--dry-run"], "there"),
        (["-d", "there", "prepared"], "there"),
        (["-nd", "there"], "there"),
        (["--directory"], "."),
        (["-np", "prepared"], "."),
    ],
    ids=" ".join,
)
def test_options_are_snakemakes_and_a_study_is_looked_at_in_the_folder_in_which_it_works(
    options: list[str], folder: str, mark: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(study_content({"seed": 1})), encoding="utf-8")
    ran = mock.Mock(return_value=(0, Path("none")))
    monkeypatch.setattr(follow, "run", ran)
    app(["run", "tiny.yaml", *mark, *options], standalone_mode=False)
    _, arguments, _, origin = ran.call_args.args
    assert (Path.cwd(), origin) == (tmp_path / folder, tmp_path)
    assert arguments[-len(options) :] == options
    assert Path(next(word for word in arguments if "--configfile" in word).partition("=")[2]).exists()


def test_an_option_of_snakemake_before_the_study_is_refused_with_where_it_belongs() -> None:
    assert refusal("run", "-n", "tiny.yaml").endswith("preln run STUDY -n")
