"""Trainings that tests start, kill and let finish, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from preln.config import Study, validate
from preln.pretraining.runs import PretrainingRun
from preln.translation.runs import Run, expand
from tests.conftest import study_content
from tests.moments import Hold, NewHold

TIMES = ["tokens_per_second", "seconds"]
PRELN = ["-m", "preln"]
AnyRun = Run | PretrainingRun


def write_study(folder: Path, processes: int = 1, **changes: Any) -> tuple[Study, Run]:
    folder.mkdir(exist_ok=True)
    content = study_content(changes, execution={"log_interval": 1, "processes": processes})
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    study = validate(content, "study.yaml")
    return study, expand(study)[0]


def start(
    folder: Path, run: AnyRun, prepared: Path, hold: Hold | None = None, preln: list[str] = PRELN
) -> subprocess.Popen[bytes]:
    verb = "train" if isinstance(run, Run) else "pretrain"
    command = [sys.executable, *preln, verb, str(folder), run.id]
    command += ["--prepared", str(prepared), "--out", str(folder / run.id)]
    environment = hold.environment(os.environ) if hold else None
    with open(folder / "output.log", "ab") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, env=environment)


def finish(folder: Path, run: AnyRun, prepared: Path, preln: list[str] = PRELN) -> None:
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
    """curve.csv as it stands, but for its times."""
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
