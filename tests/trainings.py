"""Trainings that tests start, kill and let finish, in processes of their own."""

import json
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study, validate, write
from preln.language.runs import LanguageRun
from preln.pretraining.runs import PretrainingRun
from preln.translation.runs import Run, expand
from tests.conftest import study_content
from tests.moments import HOLDING, Hold, NewHold, Started

TIMES = ["tokens_per_second", "seconds"]
AnyRun = Run | PretrainingRun | LanguageRun
COMMANDS = {Run: "train", PretrainingRun: "pretrain", LanguageRun: "train-language"}
# A process begins as a copy of one that has imported fairseq, which takes longer than a small training.
FORKING = multiprocessing.get_context("forkserver")
# An optimizer imports the last one.
FORKING.set_forkserver_preload(
    ["tests.trainings", "preln.fairseq_plugin.launch", "preln.commands.cli", "torch._dynamo"]
)


class Training(FORKING.Process):  # type: ignore[name-defined]
    """A call of `preln` in a copy of the process that has imported fairseq, with the methods of a subprocess."""

    def wait(self, timeout: float | None = None) -> int | None:
        self.join(timeout)
        return self.poll()

    def poll(self) -> int | None:
        code: int | None = self.exitcode
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def call(arguments: Sequence[str], environment: Mapping[str, str], folder: str, log: Path) -> None:
    """Call `preln` with these arguments, in a folder, and write what it says to a log: the work of such a process."""
    from preln.commands.cli import main

    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if "PRELN_TESTS_HOLD" in environment:
        runpy.run_path(str(HOLDING / "sitecustomize.py"))
    sys.argv = ["preln", *arguments]
    main()


def write_study(folder: Path, processes: int = 1, **changes: Any) -> tuple[Study, Run]:
    content = study_content(changes, execution={"log_interval": 1, "processes": processes})
    study = validate(content, "study.yaml")
    write(study, folder / "study.yaml")
    return study, expand(study)[0]


def start(
    folder: Path, run: AnyRun, prepared: Path, hold: Hold | None = None, preln: Sequence[str] | None = None
) -> Started:
    """Start a training, or go on with it. With `preln`, that is what a new Python is given to run the program."""
    arguments = [COMMANDS[type(run)], str(folder), run.id, "--prepared", str(prepared), "--out", str(folder / run.id)]
    environment = hold.environment(os.environ) if hold else dict(os.environ)
    log = folder / "output.log"
    if preln is None:
        training = Training(target=call, args=(arguments, environment, os.getcwd(), log))
        training.start()
        return training
    with open(log, "ab") as output:
        return subprocess.Popen([sys.executable, *preln, *arguments], stdout=output, stderr=output, env=environment)


def finish(folder: Path, run: AnyRun, prepared: Path, preln: Sequence[str] | None = None) -> None:
    assert start(folder, run, prepared, preln=preln).wait() == 0, (folder / "output.log").read_text()[-3000:]


def kill_at(moments: list[str], hold: NewHold, folder: Path, run: AnyRun, prepared: Path) -> None:
    """Train up to each of the moments, one after the other, and kill the training there."""
    for moment in moments:
        moment_hold = hold(moment)
        process = start(folder, run, prepared, moment_hold)
        moment_hold.wait(process)
        process.kill()
        process.wait()


def numbers(folder: Path, run: AnyRun) -> str:
    return curve_without_times(folder / run.id)


def curve_without_times(folder: Path) -> str:
    """curve.csv of a run's folder as it stands, but for its times."""
    return pd.read_csv(folder / "curve.csv", dtype=str).drop(columns=TIMES).to_csv()


def metrics(folder: Path, run: AnyRun) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / run.id / "metrics.json").read_text())
    return values


def logged(path: Path) -> str:
    """A log's text so far."""
    return path.read_text(errors="replace") if path.exists() else ""
